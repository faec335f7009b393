-- The broker: the tools that are known, what was spent, whether everything stands still, and what a call left behind.

CREATE TABLE tools (
    tool_id TEXT NOT NULL PRIMARY KEY,
    agent_access TEXT NOT NULL,
    risk_level TEXT NOT NULL,
    execution_mode TEXT NOT NULL,
    monitoring_level INTEGER NOT NULL,
    alignment_score_90d REAL,
    spec BLOB NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE budgets (
    account TEXT NOT NULL,
    unit TEXT NOT NULL,
    used INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (account, unit)
) STRICT, WITHOUT ROWID;

CREATE TABLE halts (
    name TEXT NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    "by" TEXT NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE tool_calls ADD COLUMN artifacts BLOB;
ALTER TABLE tool_calls ADD COLUMN alignment_rating REAL;
ALTER TABLE tool_calls ADD COLUMN reserved TEXT;
