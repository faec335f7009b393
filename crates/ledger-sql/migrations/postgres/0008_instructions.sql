-- Standing instructions of the owner, which are part of every system prompt.

CREATE TABLE agent_notes (
    id bigint NOT NULL PRIMARY KEY,
    agent_id text COLLATE "C" NOT NULL,
    note_type text COLLATE "C" NOT NULL,
    content bytea NOT NULL,
    priority bigint NOT NULL,
    created_at timestamptz NOT NULL
);
