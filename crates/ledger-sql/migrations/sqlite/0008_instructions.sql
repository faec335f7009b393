-- Standing instructions of the owner, which are part of every system prompt.

CREATE TABLE agent_notes (
    id INTEGER NOT NULL PRIMARY KEY,
    agent_id TEXT NOT NULL,
    note_type TEXT NOT NULL,
    content BLOB NOT NULL,
    priority INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
