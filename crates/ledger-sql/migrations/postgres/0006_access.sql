-- Access: who somebody is, which policies are in force, who waits at the door, and how far events were looked at.

ALTER TABLE entity_identities ADD COLUMN is_owned bigint NOT NULL DEFAULT 0;
ALTER TABLE entity_identities ADD COLUMN is_verified bigint NOT NULL DEFAULT 0;

-- Who speaks at the owner's own terminal needs no other proof, and what the house says is its own.
UPDATE entity_identities SET is_owned = 1, is_verified = 1 WHERE platform IN ('terminal', 'system');

CREATE TABLE entity_tags (
    entity_id text COLLATE "C" NOT NULL,
    tag text COLLATE "C" NOT NULL,
    PRIMARY KEY (entity_id, tag)
);

CREATE TABLE active_policies (
    kind text COLLATE "C" NOT NULL PRIMARY KEY,
    policies bytea NOT NULL,
    sources bytea NOT NULL,
    at timestamptz NOT NULL
);

CREATE TABLE policy_switches (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    enabled bigint NOT NULL,
    at timestamptz NOT NULL
);

CREATE TABLE knocks (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    stamp text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    sender text COLLATE "C" NOT NULL,
    waiting text COLLATE "C" UNIQUE,
    events bigint NOT NULL,
    status text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    timeout_at timestamptz NOT NULL,
    resolved_at timestamptz,
    resolved_by text COLLATE "C",
    resolved_via text COLLATE "C",
    entity_id text COLLATE "C"
);

CREATE INDEX knocks_by_status ON knocks (status, timeout_at);
CREATE INDEX knocks_by_sender ON knocks (sender, created_at);
CREATE INDEX knocks_by_stamp ON knocks (stamp);

CREATE TABLE cursors (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    seq bigint NOT NULL
);

-- An event has one decision, and one more if the owner is asked about it and answers.
ALTER TABLE access_log ADD COLUMN n bigint NOT NULL DEFAULT 0;
ALTER TABLE access_log ADD COLUMN knock_id text COLLATE "C";
ALTER TABLE access_log DROP CONSTRAINT access_log_event_id_key;
ALTER TABLE access_log ADD UNIQUE (event_id, n);
CREATE INDEX access_log_by_knock ON access_log (knock_id);
