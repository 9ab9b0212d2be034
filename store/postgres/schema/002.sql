-- old servers: keep running
-- What servers on one database tell each other, for a while.
CREATE TABLE shared (
    kind       TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    item_group TEXT COLLATE "C" NOT NULL,
    content    BYTEA NOT NULL, -- compressed, and sealed if it says so
    expires    BIGINT NOT NULL,
    PRIMARY KEY (kind, name)
);
CREATE INDEX shared_group ON shared (kind, item_group, name);
CREATE INDEX shared_expires ON shared (expires);
