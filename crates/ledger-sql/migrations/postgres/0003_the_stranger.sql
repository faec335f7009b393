-- Checkpoints: what was signed at the end of each epoch, and the signature. Written once, like the audit itself.

CREATE TABLE checkpoints (
    epoch bigint NOT NULL PRIMARY KEY,
    bytes bytea NOT NULL,
    signature bytea NOT NULL
);

CREATE TRIGGER checkpoints_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON checkpoints EXECUTE FUNCTION is_append_only();
