-- The ground: adapters' watermarks, the house's duties, and at most one owner.

CREATE TABLE watermarks (
    adapter text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    position text COLLATE "C" NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (adapter, account)
);

CREATE TABLE duties (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    next_due timestamptz NOT NULL,
    last_run timestamptz,
    outcome text COLLATE "C",
    runs bigint NOT NULL
);

ALTER TABLE leases ADD COLUMN beats bigint NOT NULL DEFAULT 0;

CREATE UNIQUE INDEX entities_one_owner ON entities (is_owner) WHERE is_owner = 1;

-- What was recorded about something is found by its origin: neighbours in this index were written together. The audit is
-- read by its own sequence, not by time.

DROP INDEX audit_by_subject;
DROP INDEX audit_by_time;
CREATE INDEX audit_by_origin ON audit (origin_id);
