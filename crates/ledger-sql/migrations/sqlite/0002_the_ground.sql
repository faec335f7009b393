-- The ground: adapters' watermarks, the house's duties, and at most one owner.

CREATE TABLE watermarks (
    adapter TEXT NOT NULL,
    account TEXT NOT NULL,
    position TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (adapter, account)
) STRICT, WITHOUT ROWID;

CREATE TABLE duties (
    name TEXT NOT NULL PRIMARY KEY,
    next_due INTEGER NOT NULL,
    last_run INTEGER,
    outcome TEXT,
    runs INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX entities_one_owner ON entities (is_owner) WHERE is_owner = 1;
