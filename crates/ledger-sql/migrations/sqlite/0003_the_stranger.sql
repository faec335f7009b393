-- Checkpoints: what was signed at the end of each epoch, and the signature. Written once, like the audit itself.

CREATE TABLE checkpoints (
    epoch INTEGER NOT NULL PRIMARY KEY,
    bytes BLOB NOT NULL,
    signature BLOB NOT NULL
) STRICT;

CREATE TRIGGER checkpoints_are_not_changed BEFORE UPDATE ON checkpoints BEGIN SELECT RAISE(ABORT, 'checkpoints are append-only'); END;
CREATE TRIGGER checkpoints_are_not_deleted BEFORE DELETE ON checkpoints BEGIN SELECT RAISE(ABORT, 'checkpoints are append-only'); END;
