-- Rows that carry authority: the MAC over each of them, and in the head of the audit the MAC over all.
CREATE TABLE authority_seals (
    key BLOB NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    mac BLOB NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE audit_heads ADD COLUMN authority BLOB;

-- Until when a call may rely on a yes; and which approvals carry authority: open ones, and yeses that no call has used.
ALTER TABLE approval_queue ADD COLUMN token_until INTEGER;
ALTER TABLE approval_queue ADD COLUMN live TEXT;
UPDATE approval_queue SET live = id
    WHERE status IN ('pending', 'escalated') OR (leave IS NOT NULL AND fate IS NULL);
CREATE INDEX approval_queue_by_live ON approval_queue (live);

-- The event and the journal of a task, as one digest.
ALTER TABLE agent_tasks ADD COLUMN journal BLOB;

-- Which database this is, and how often a restore has replaced its rows.
CREATE TABLE database_stamp (
    name TEXT NOT NULL PRIMARY KEY,
    id TEXT NOT NULL,
    incarnation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO database_stamp (name, id, incarnation) VALUES ('this', lower(hex(randomblob(16))), 1);
