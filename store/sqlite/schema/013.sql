-- The spans of a trace, until whoever waits for them has read them: see store.Traces.
CREATE TABLE trace (
    seq     INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    key_id  TEXT NOT NULL,
    id      TEXT NOT NULL,
    spans   INTEGER NOT NULL,
    bytes   INTEGER NOT NULL, -- of its parts, with their overhead
    refused INTEGER NOT NULL, -- spans for which there was no room
    awaited INTEGER NOT NULL, -- until then, it makes no room for others
    expires INTEGER NOT NULL,
    UNIQUE (project, key_id, id)
) STRICT;
CREATE INDEX trace_oldest ON trace (project, key_id, seq);
CREATE INDEX trace_expires ON trace (expires);

CREATE TABLE trace_part (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT, -- a position of a reader
    trace   INTEGER NOT NULL REFERENCES trace (seq) ON DELETE CASCADE,
    project TEXT NOT NULL,
    content BLOB NOT NULL -- compressed, and sealed if it says so
) STRICT;
CREATE INDEX trace_part_trace ON trace_part (trace, seq);

-- The bytes of the traces of each key.
CREATE TABLE trace_room (
    project TEXT NOT NULL,
    key_id  TEXT NOT NULL,
    bytes   INTEGER NOT NULL,
    PRIMARY KEY (project, key_id)
) STRICT, WITHOUT ROWID;
