-- The broker: the tools that are known, what was spent, whether everything stands still, and what a call left behind.

CREATE TABLE tools (
    tool_id text COLLATE "C" NOT NULL PRIMARY KEY,
    agent_access text COLLATE "C" NOT NULL,
    risk_level text COLLATE "C" NOT NULL,
    execution_mode text COLLATE "C" NOT NULL,
    monitoring_level bigint NOT NULL,
    alignment_score_90d double precision,
    spec bytea NOT NULL,
    changed_at timestamptz NOT NULL
);

CREATE TABLE budgets (
    account text COLLATE "C" NOT NULL,
    unit text COLLATE "C" NOT NULL,
    used bigint NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (account, unit)
);

CREATE TABLE halts (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    at timestamptz NOT NULL,
    "by" text COLLATE "C" NOT NULL
);

ALTER TABLE tool_calls ADD COLUMN artifacts bytea;
ALTER TABLE tool_calls ADD COLUMN alignment_rating double precision;
ALTER TABLE tool_calls ADD COLUMN reserved text COLLATE "C";
