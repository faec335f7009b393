-- Approvals: what waits for a person, what was answered, what is granted; and what a call was to change.

CREATE TABLE approval_queue (
    id TEXT NOT NULL PRIMARY KEY,
    stamp TEXT NOT NULL,
    tool_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    r_tag TEXT NOT NULL,
    o_tag TEXT NOT NULL,
    vpol_id TEXT NOT NULL,
    arguments BLOB NOT NULL,
    reason BLOB NOT NULL,
    summary BLOB NOT NULL,
    question BLOB NOT NULL,
    risk_level TEXT NOT NULL,
    confidence REAL,
    tags TEXT NOT NULL,
    status TEXT NOT NULL,
    authority TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    leave BLOB,
    shape BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    timeout_at INTEGER NOT NULL,
    resolved_at INTEGER,
    resolved_by TEXT,
    resolved_via TEXT,
    answer BLOB,
    grant_id TEXT,
    fate TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX approval_queue_by_status ON approval_queue (status, timeout_at);
CREATE INDEX approval_queue_by_task ON approval_queue (task_id);
CREATE INDEX approval_queue_by_stamp ON approval_queue (stamp);
CREATE INDEX approval_queue_by_time ON approval_queue (created_at);

CREATE TABLE approval_codes (
    number INTEGER NOT NULL PRIMARY KEY,
    approval TEXT NOT NULL,
    digest BLOB NOT NULL,
    until INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    stamp TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
    id TEXT NOT NULL PRIMARY KEY,
    live TEXT,
    tool_id TEXT NOT NULL,
    terms BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    granted_by TEXT NOT NULL,
    request_id TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX grants_by_live ON grants (live);
CREATE INDEX grants_by_tool ON grants (tool_id, live);

CREATE TABLE grant_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    grant_id TEXT NOT NULL,
    n TEXT NOT NULL,
    event TEXT NOT NULL,
    call_id TEXT,
    at INTEGER NOT NULL,
    UNIQUE (grant_id, n)
) STRICT;

ALTER TABLE tool_calls ADD COLUMN change BLOB;
