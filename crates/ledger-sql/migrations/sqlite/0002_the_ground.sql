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

ALTER TABLE leases ADD COLUMN beats INTEGER NOT NULL DEFAULT 0;

CREATE UNIQUE INDEX entities_one_owner ON entities (is_owner) WHERE is_owner = 1;

-- What was recorded about something is found by its origin: neighbours in this index were written together. The audit is
-- read by its own sequence, not by time.

DROP INDEX audit_by_subject;
DROP INDEX audit_by_time;
CREATE INDEX audit_by_origin ON audit (origin_id);
