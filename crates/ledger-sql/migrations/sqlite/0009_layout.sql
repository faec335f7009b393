-- The layout of what is written most: fewer trees for each row. Every table is filled anew from the old one, row by row.

-- Rows of these are never deleted, so the next number follows from the last row, and nothing else has to keep it.
CREATE TABLE commits_9 (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL
) STRICT;

INSERT INTO commits_9 SELECT seq, id, at FROM commits ORDER BY seq;
DROP TABLE commits;
ALTER TABLE commits_9 RENAME TO commits;

CREATE TABLE task_steps_9 (
    seq INTEGER PRIMARY KEY,
    task TEXT NOT NULL,
    n INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    body BLOB NOT NULL,
    at INTEGER NOT NULL,
    UNIQUE (task, n)
) STRICT;

INSERT INTO task_steps_9 SELECT seq, task, n, epoch, body, at FROM task_steps ORDER BY seq;
DROP TABLE task_steps;
ALTER TABLE task_steps_9 RENAME TO task_steps;

CREATE TRIGGER task_steps_are_not_changed BEFORE UPDATE ON task_steps BEGIN SELECT RAISE(ABORT, 'task steps are append-only'); END;
CREATE TRIGGER task_steps_are_not_deleted BEFORE DELETE ON task_steps BEGIN SELECT RAISE(ABORT, 'task steps are append-only'); END;

-- Small rows that are found by their id alone stand in the tree of their ids.
CREATE TABLE origin_registry_9 (
    id TEXT NOT NULL PRIMARY KEY,
    origin_type TEXT NOT NULL,
    source_ref TEXT NOT NULL,
    timestamp INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO origin_registry_9 SELECT id, origin_type, source_ref, timestamp FROM origin_registry ORDER BY id;
DROP TABLE origin_registry;
ALTER TABLE origin_registry_9 RENAME TO origin_registry;

CREATE TABLE reason_log_9 (
    id TEXT NOT NULL PRIMARY KEY,
    r_tag TEXT NOT NULL,
    o_tag TEXT NOT NULL,
    vpol_id TEXT NOT NULL,
    chain_id TEXT NOT NULL,
    parent_id TEXT,
    agent_id TEXT NOT NULL,
    thought BLOB NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO reason_log_9
    SELECT id, r_tag, o_tag, vpol_id, chain_id, parent_id, agent_id, thought, at FROM reason_log ORDER BY id;
DROP TABLE reason_log;
ALTER TABLE reason_log_9 RENAME TO reason_log;

CREATE TABLE leases_9 (
    subject TEXT NOT NULL PRIMARY KEY,
    epoch INTEGER NOT NULL,
    holder TEXT NOT NULL,
    until INTEGER NOT NULL,
    beats INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

INSERT INTO leases_9 SELECT subject, epoch, holder, until, beats FROM leases ORDER BY subject;
DROP TABLE leases;
ALTER TABLE leases_9 RENAME TO leases;
