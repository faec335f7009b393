-- Rows that carry authority: the MAC over each of them, and in the head of the audit the MAC over all.
CREATE TABLE authority_seals (
    key bytea NOT NULL PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    mac bytea NOT NULL
);

ALTER TABLE audit_heads ADD COLUMN authority bytea;

-- Until when a call may rely on a yes; and which approvals carry authority: open ones, and yeses that no call has used.
ALTER TABLE approval_queue ADD COLUMN token_until timestamptz;
ALTER TABLE approval_queue ADD COLUMN live text COLLATE "C";
UPDATE approval_queue SET live = id
    WHERE status IN ('pending', 'escalated') OR (leave IS NOT NULL AND fate IS NULL);
CREATE INDEX approval_queue_by_live ON approval_queue (live);

-- The event and the journal of a task, as one digest.
ALTER TABLE agent_tasks ADD COLUMN journal bytea;

-- Which database this is, and how often a restore has replaced its rows.
CREATE TABLE database_stamp (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    id text COLLATE "C" NOT NULL,
    incarnation bigint NOT NULL
);

INSERT INTO database_stamp (name, id, incarnation) VALUES ('this', replace(gen_random_uuid()::text, '-', ''), 1);
