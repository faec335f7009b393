-- The first walk. Times are microseconds since 1970 (UTC), ids are text so that anybody with a
-- database shell can read them, digests are 32 bytes.

CREATE TABLE commits (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL
) STRICT;

-- Bodies: everything that a person wrote or that is large. Erasable.

CREATE TABLE blobs (
    hash BLOB NOT NULL PRIMARY KEY,
    person TEXT,
    content BLOB NOT NULL
) STRICT;
CREATE INDEX blobs_by_person ON blobs (person);

CREATE TABLE salts (
    person TEXT NOT NULL PRIMARY KEY,
    salt BLOB NOT NULL
) STRICT;

-- Who and where. Erasable.

CREATE TABLE entities (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT,
    is_owner INTEGER NOT NULL,
    relationship TEXT,
    trust TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE entity_identities (
    id TEXT NOT NULL UNIQUE,
    platform TEXT NOT NULL,
    identifier TEXT NOT NULL,
    entity_id TEXT,
    account TEXT,
    first_seen INTEGER NOT NULL,
    PRIMARY KEY (platform, identifier)
) STRICT;

CREATE TABLE places (
    id TEXT NOT NULL UNIQUE,
    platform TEXT NOT NULL,
    account TEXT NOT NULL,
    container TEXT NOT NULL,
    thread TEXT NOT NULL,
    PRIMARY KEY (platform, account, container, thread)
) STRICT;

-- The events ledger.

CREATE TABLE origin_registry (
    id TEXT NOT NULL PRIMARY KEY,
    origin_type TEXT NOT NULL,
    source_ref TEXT NOT NULL,
    timestamp INTEGER NOT NULL
) STRICT;

CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL UNIQUE,
    adapter TEXT NOT NULL,
    platform TEXT NOT NULL,
    container_kind TEXT NOT NULL,
    place TEXT NOT NULL,
    sender TEXT NOT NULL,
    direction TEXT NOT NULL,
    body BLOB NOT NULL,
    content_type TEXT NOT NULL,
    metadata BLOB,
    occurred_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    origin_id TEXT NOT NULL,
    answers TEXT
) STRICT;

-- Authority and reasons.

CREATE TABLE validation_policies (
    vpol_id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    rules BLOB NOT NULL,
    context_bucket TEXT,
    enforcement_mode TEXT NOT NULL
) STRICT;

CREATE TABLE reason_log (
    id TEXT NOT NULL PRIMARY KEY,
    r_tag TEXT NOT NULL,
    o_tag TEXT NOT NULL,
    vpol_id TEXT NOT NULL,
    chain_id TEXT NOT NULL,
    parent_id TEXT,
    agent_id TEXT NOT NULL,
    thought BLOB NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE TABLE access_log (
    id TEXT NOT NULL PRIMARY KEY,
    event_id TEXT NOT NULL UNIQUE,
    effect TEXT NOT NULL,
    principal TEXT NOT NULL,
    trust TEXT NOT NULL,
    reason_id TEXT NOT NULL,
    vpol_id TEXT NOT NULL,
    decision BLOB NOT NULL,
    at INTEGER NOT NULL
) STRICT;

-- The agents ledger.

CREATE TABLE leases (
    subject TEXT NOT NULL PRIMARY KEY,
    epoch INTEGER NOT NULL,
    holder TEXT NOT NULL,
    until INTEGER NOT NULL
) STRICT;

CREATE TABLE agent_tasks (
    task_id TEXT NOT NULL PRIMARY KEY,
    agent_id TEXT NOT NULL,
    status TEXT NOT NULL,
    priority INTEGER NOT NULL,
    payload TEXT NOT NULL,
    o_tag TEXT NOT NULL,
    vpol_id TEXT,
    task_class TEXT,
    directive TEXT,
    steps INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    completed_at INTEGER
) STRICT;
CREATE INDEX agent_tasks_by_age ON agent_tasks (created_at);
CREATE INDEX agent_tasks_by_status ON agent_tasks (status, created_at);

CREATE TABLE task_steps (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL,
    n INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    body BLOB NOT NULL,
    at INTEGER NOT NULL,
    UNIQUE (task, n)
) STRICT;

CREATE TABLE tool_calls (
    id TEXT NOT NULL PRIMARY KEY,
    tool_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    r_tag TEXT NOT NULL,
    o_tag TEXT NOT NULL,
    vpol_id TEXT NOT NULL,
    status TEXT NOT NULL,
    input BLOB NOT NULL,
    output BLOB,
    decision BLOB NOT NULL,
    duration_ms INTEGER,
    timestamp INTEGER NOT NULL
) STRICT;
CREATE INDEX tool_calls_by_task ON tool_calls (task_id, timestamp);

-- Audit.

CREATE TABLE audit (
    stream TEXT NOT NULL,
    seq INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    prev_hash BLOB NOT NULL,
    hash BLOB NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    subject TEXT NOT NULL,
    trust TEXT,
    origin_id TEXT,
    reason_id TEXT,
    vpol_id TEXT,
    PRIMARY KEY (stream, seq)
) STRICT;
CREATE INDEX audit_by_subject ON audit (subject);
CREATE INDEX audit_by_time ON audit (at);

CREATE TABLE audit_heads (
    stream TEXT NOT NULL PRIMARY KEY,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    mac BLOB NOT NULL
) STRICT;

-- What is written for ever is neither changed nor deleted.

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER task_steps_are_not_changed BEFORE UPDATE ON task_steps BEGIN SELECT RAISE(ABORT, 'task steps are append-only'); END;
CREATE TRIGGER task_steps_are_not_deleted BEFORE DELETE ON task_steps BEGIN SELECT RAISE(ABORT, 'task steps are append-only'); END;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
