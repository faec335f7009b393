-- Access: who somebody is, which policies are in force, who waits at the door, and how far events were looked at.

ALTER TABLE entity_identities ADD COLUMN is_owned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entity_identities ADD COLUMN is_verified INTEGER NOT NULL DEFAULT 0;

-- Who speaks at the owner's own terminal needs no other proof, and what the house says is its own.
UPDATE entity_identities SET is_owned = 1, is_verified = 1 WHERE platform IN ('terminal', 'system');

CREATE TABLE entity_tags (
    entity_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (entity_id, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE active_policies (
    kind TEXT NOT NULL PRIMARY KEY,
    policies BLOB NOT NULL,
    sources BLOB NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE policy_switches (
    name TEXT NOT NULL PRIMARY KEY,
    enabled INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE knocks (
    id TEXT NOT NULL PRIMARY KEY,
    stamp TEXT NOT NULL,
    kind TEXT NOT NULL,
    sender TEXT NOT NULL,
    waiting TEXT UNIQUE,
    events INTEGER NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    timeout_at INTEGER NOT NULL,
    resolved_at INTEGER,
    resolved_by TEXT,
    resolved_via TEXT,
    entity_id TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX knocks_by_status ON knocks (status, timeout_at);
CREATE INDEX knocks_by_sender ON knocks (sender, created_at);
CREATE INDEX knocks_by_stamp ON knocks (stamp);

CREATE TABLE cursors (
    name TEXT NOT NULL PRIMARY KEY,
    seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- An event has one decision, and one more if the owner is asked about it and answers.
CREATE TABLE access_log_6 (
    id TEXT NOT NULL PRIMARY KEY,
    event_id TEXT NOT NULL,
    effect TEXT NOT NULL,
    principal TEXT NOT NULL,
    trust TEXT NOT NULL,
    reason_id TEXT NOT NULL,
    vpol_id TEXT NOT NULL,
    decision BLOB NOT NULL,
    at INTEGER NOT NULL,
    n INTEGER NOT NULL,
    knock_id TEXT,
    UNIQUE (event_id, n)
) STRICT;

INSERT INTO access_log_6
    SELECT id, event_id, effect, principal, trust, reason_id, vpol_id, decision, at, 0, NULL FROM access_log;
DROP TABLE access_log;
ALTER TABLE access_log_6 RENAME TO access_log;
CREATE INDEX access_log_by_knock ON access_log (knock_id);
