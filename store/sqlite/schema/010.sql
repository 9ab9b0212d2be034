-- What servers on one database tell each other, for a while.
CREATE TABLE shared (
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    item_group TEXT NOT NULL,
    content    BLOB NOT NULL, -- compressed, and sealed if it says so
    expires    INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT;
CREATE INDEX shared_group ON shared (kind, item_group, name);
CREATE INDEX shared_expires ON shared (expires);
