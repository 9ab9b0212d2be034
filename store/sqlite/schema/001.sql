-- Times are microseconds since 1970 (UTC), NULL where there is none. Money is in
-- US dollars. seq gives lists their order and never comes back.

CREATE TABLE api_key (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    id        TEXT NOT NULL UNIQUE,
    name      TEXT NOT NULL,
    hint      TEXT NOT NULL,
    hash      BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    scopes    TEXT NOT NULL, -- JSON array
    budget    REAL,
    spent     REAL NOT NULL DEFAULT 0,
    providers TEXT NOT NULL, -- JSON array
    created   INTEGER NOT NULL,
    last_used INTEGER,
    revoked   INTEGER
) STRICT;

CREATE TABLE document (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    hash        TEXT NOT NULL,
    number      INTEGER NOT NULL,
    prompt_hash TEXT NOT NULL,
    media_type  TEXT NOT NULL,
    created_by  TEXT NOT NULL,
    created     INTEGER NOT NULL,
    content     BLOB NOT NULL, -- last, so that lists need not read over it
    UNIQUE (kind, name, hash),
    UNIQUE (kind, name, number)
) STRICT;

-- current says which version a name stands for.
CREATE TABLE current (
    kind     TEXT NOT NULL,
    name     TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES document (seq),
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    suite       TEXT NOT NULL,
    version     TEXT NOT NULL,
    hash        TEXT NOT NULL DEFAULT '',
    created_by  TEXT NOT NULL,
    status      TEXT NOT NULL,
    error       TEXT NOT NULL DEFAULT '',
    attempts    INTEGER NOT NULL DEFAULT 0,
    begun_with  INTEGER NOT NULL DEFAULT 0, -- rows that were there when the latest attempt began
    rows        INTEGER NOT NULL DEFAULT 0,
    passed      INTEGER NOT NULL DEFAULT 0,
    failed      INTEGER NOT NULL DEFAULT 0,
    errors      INTEGER NOT NULL DEFAULT 0,
    skipped     INTEGER NOT NULL DEFAULT 0,
    prompt      INTEGER NOT NULL DEFAULT 0,
    completion  INTEGER NOT NULL DEFAULT 0,
    cached      INTEGER NOT NULL DEFAULT 0,
    total       INTEGER NOT NULL DEFAULT 0,
    requests    INTEGER NOT NULL DEFAULT 0,
    cost        REAL NOT NULL DEFAULT 0,
    judges      TEXT NOT NULL DEFAULT '[]', -- JSON array
    job         INTEGER NOT NULL DEFAULT 0, -- id in river_job
    created     INTEGER NOT NULL,
    started     INTEGER,
    ended       INTEGER,
    options     BLOB
) STRICT;
CREATE INDEX run_suite ON run (suite, seq);
CREATE INDEX run_status ON run (status, seq);

CREATE TABLE result (
    seq        INTEGER PRIMARY KEY,
    run        INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    row        INTEGER NOT NULL,
    status     INTEGER NOT NULL, -- as proviso.Status
    prompt     INTEGER NOT NULL,
    completion INTEGER NOT NULL,
    cached     INTEGER NOT NULL,
    total      INTEGER NOT NULL,
    requests   INTEGER NOT NULL,
    cost       REAL NOT NULL,
    assertions TEXT NOT NULL, -- JSON array of [id, status]
    json       BLOB NOT NULL,
    UNIQUE (run, row)
) STRICT;

CREATE TABLE verdict (
    run       INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    assertion TEXT NOT NULL,
    row       INTEGER NOT NULL,
    ordinal   INTEGER NOT NULL, -- an assertion may occur in a row more than once
    status    INTEGER NOT NULL,
    PRIMARY KEY (run, assertion, row, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE evaluation (
    seq           INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    created_by    TEXT NOT NULL,
    agent         TEXT NOT NULL,
    assertion_set TEXT NOT NULL,
    judge         TEXT NOT NULL,
    status        INTEGER NOT NULL,
    score         REAL,
    passed        INTEGER NOT NULL,
    failed        INTEGER NOT NULL,
    errors        INTEGER NOT NULL,
    skipped       INTEGER NOT NULL,
    prompt        INTEGER NOT NULL,
    completion    INTEGER NOT NULL,
    cached        INTEGER NOT NULL,
    total         INTEGER NOT NULL,
    requests      INTEGER NOT NULL,
    cost          REAL NOT NULL,
    elapsed       INTEGER NOT NULL, -- microseconds
    created       INTEGER NOT NULL,
    request       BLOB,
    response      BLOB
) STRICT;
CREATE INDEX evaluation_created ON evaluation (created);
CREATE INDEX evaluation_created_by ON evaluation (created_by, seq);
CREATE INDEX evaluation_agent ON evaluation (agent, seq);

-- reply without a status is a claim.
CREATE TABLE reply (
    created_by TEXT NOT NULL,
    key        TEXT NOT NULL,
    request    BLOB NOT NULL CHECK (length(request) = 32),
    expires    INTEGER NOT NULL,
    status     INTEGER,
    media_type TEXT NOT NULL DEFAULT '',
    location   TEXT NOT NULL DEFAULT '',
    body       BLOB,
    PRIMARY KEY (created_by, key)
) STRICT;
CREATE INDEX reply_expires ON reply (expires);
