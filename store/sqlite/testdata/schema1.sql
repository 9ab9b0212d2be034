-- A database of schema 1, as sqlite3 dumps it, with its marks.
PRAGMA application_id = 1886549619;
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
INSERT INTO api_key VALUES(1,'key_06drtrktg3n0fjjg5xd37vjgc8','ci','pvk_86mj',X'5a4a3875bde0bbcdaae6ef3810ea2550fd9ae5e06f0a3d3f3890c74579350553','["evaluate","read"]',NULL,0.5,'[]',1767603600000000,NULL,NULL);
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
INSERT INTO document VALUES(1,'suite','refunds','5993dc56cbde7ad4344669b3d2e694f5587b5a8293cfdce2c4c06ffbf889b4d3',1,'','application/json','key_06drtrktg3n0fjjg5xd37vjgc8',1767603600000000,X'7b227375697465223a226f6e65227d');
INSERT INTO document VALUES(2,'suite','refunds','e88e962f9f4e4c580e73b89e66fb51c490933184cceceb2469b853a089286973',2,'','application/json','key_06drtrktg3n0fjjg5xd37vjgc8',1767603600000000,X'7b227375697465223a2274776f227d');
INSERT INTO document VALUES(4,'assertion_set','refunds','045efec82e7c8d82974ef29c645de4eec009bbc8f2ea5f9f6ad575eb187e9ec7',1,'','application/json','key_06drtrktg3n0fjjg5xd37vjgc8',1767603600000000,X'7b22617373657274696f6e73223a5b5d7d');
CREATE TABLE current (
    kind     TEXT NOT NULL,
    name     TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES document (seq),
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "current" VALUES('assertion_set','refunds',4);
INSERT INTO "current" VALUES('suite','refunds',1);
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
INSERT INTO run VALUES(1,'run_old','refunds','5993dc56cbde7ad4344669b3d2e694f5587b5a8293cfdce2c4c06ffbf889b4d3','','key_06drtrktg3n0fjjg5xd37vjgc8','queued','',0,0,2,1,0,0,0,0,0,0,0,0,0.5,'[]',1,1767603600000000,NULL,NULL,X'7b7d');
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
INSERT INTO result VALUES(1,1,0,1,0,0,0,0,0,0.5,'[["a",1]]',X'7b22696e646578223a307d');
CREATE TABLE verdict (
    run       INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    assertion TEXT NOT NULL,
    row       INTEGER NOT NULL,
    ordinal   INTEGER NOT NULL, -- an assertion may occur in a row more than once
    status    INTEGER NOT NULL,
    PRIMARY KEY (run, assertion, row, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO verdict VALUES(1,'a',0,0,1);
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
INSERT INTO evaluation VALUES(1,'eval_old','key_06drtrktg3n0fjjg5xd37vjgc8','agent','','',2,NULL,0,0,0,0,0,0,0,0,0,0.0,0,1767603600000000,X'7b7d',X'7b7d');
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
INSERT INTO reply VALUES('key_06drtrktg3n0fjjg5xd37vjgc8','once',X'1f58b9145b24d108d7ac38887338b3ea3229833b9c1e418250343f907bfd1047',1767607200000000,201,'','',X'646f6e65');
CREATE TABLE river_leader (
    elected_at timestamp NOT NULL,
    expires_at timestamp NOT NULL,
    leader_id text NOT NULL,
    name text PRIMARY KEY NOT NULL DEFAULT 'default' CHECK (name = 'default'),
    CONSTRAINT name_length CHECK (length(name) > 0 AND length(name) < 128),
    CONSTRAINT leader_id_length CHECK (length(leader_id) > 0 AND length(leader_id) < 128)
);
CREATE TABLE river_migration (
    line text NOT NULL,
    version integer NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT line_length CHECK (length(line) > 0 AND length(line) < 128),
    CONSTRAINT version_gte_1 CHECK (version >= 1),
    PRIMARY KEY (line, version)
);
INSERT INTO river_migration VALUES('main',1,'2026-11-22 16:26:38');
INSERT INTO river_migration VALUES('main',2,'2026-11-22 16:26:38');
INSERT INTO river_migration VALUES('main',3,'2026-11-22 16:26:38');
INSERT INTO river_migration VALUES('main',4,'2026-11-22 16:26:38');
INSERT INTO river_migration VALUES('main',5,'2026-11-22 16:26:38');
INSERT INTO river_migration VALUES('main',6,'2026-11-22 16:26:38');
INSERT INTO river_migration VALUES('main',7,'2026-11-22 16:26:38');
CREATE TABLE river_notification (
    id integer PRIMARY KEY AUTOINCREMENT,
    created_at timestamp NOT NULL DEFAULT (datetime('now', 'subsec')),
    payload text NOT NULL,
    topic text NOT NULL,
    CONSTRAINT topic_length CHECK (length(topic) > 0 AND length(topic) < 128)
);
INSERT INTO river_notification VALUES(1,'2026-11-22 16:26:38.063','{"queue": "runs"}','river_insert');
CREATE TABLE river_job (
    id integer PRIMARY KEY, -- SQLite makes this autoincrementing automatically
    args blob NOT NULL DEFAULT (jsonb('{}')),
    attempt integer NOT NULL DEFAULT 0,
    attempted_at timestamp,
    attempted_by blob, -- json
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    errors blob, -- json
    finalized_at timestamp,
    kind text NOT NULL,
    metadata blob NOT NULL DEFAULT (jsonb('{}')),
    priority integer NOT NULL DEFAULT 1,
    queue text NOT NULL DEFAULT 'default',
    state text NOT NULL DEFAULT 'available',
    scheduled_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    tags blob NOT NULL DEFAULT (jsonb('[]')),
    unique_key blob,
    unique_states integer, max_attempts integer NOT NULL DEFAULT 25,
    CONSTRAINT finalized_or_finalized_at_null CHECK (
        (finalized_at IS NULL AND state NOT IN ('cancelled', 'completed', 'discarded')) OR
        (finalized_at IS NOT NULL AND state IN ('cancelled', 'completed', 'discarded'))
    ),
    CONSTRAINT priority_in_range CHECK (priority >= 1 AND priority <= 4),
    CONSTRAINT queue_length CHECK (length(queue) > 0 AND length(queue) < 128),
    CONSTRAINT kind_length CHECK (length(kind) > 0 AND length(kind) < 128),
    CONSTRAINT state_valid CHECK (state IN ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled'))
);
INSERT INTO river_job VALUES(1,X'cc0c3772756e7772756e5f6f6c64',0,NULL,NULL,'2026-11-22 16:26:38.062',NULL,NULL,'execute_run',X'cc26c71272697665723a756e697175655f6e6f6e6365c71033313337396138356434393034643164',1,'runs','available','2026-11-22 16:26:38.062',X'0b',X'db5ca9c59ea3e39c23f63f0c4a5616cdb768d55a17b2f938263a8eadf49327b5',241,1000);
CREATE TABLE river_queue (
    name text PRIMARY KEY NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    metadata blob NOT NULL DEFAULT (jsonb('{}')),
    paused_at timestamp,
    updated_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('api_key',1);
INSERT INTO sqlite_sequence VALUES('document',4);
INSERT INTO sqlite_sequence VALUES('run',1);
INSERT INTO sqlite_sequence VALUES('river_notification',1);
CREATE INDEX run_suite ON run (suite, seq);
CREATE INDEX run_status ON run (status, seq);
CREATE INDEX evaluation_created ON evaluation (created);
CREATE INDEX evaluation_created_by ON evaluation (created_by, seq);
CREATE INDEX evaluation_agent ON evaluation (agent, seq);
CREATE INDEX reply_expires ON reply (expires);
CREATE INDEX river_notification_created_at_idx ON river_notification (created_at);
CREATE INDEX river_notification_topic_id_idx ON river_notification (topic, id);
CREATE INDEX river_job_kind ON river_job (kind);
CREATE INDEX river_job_state_and_finalized_at_index ON river_job (state, finalized_at) WHERE finalized_at IS NOT NULL;
CREATE INDEX river_job_prioritized_fetching_index ON river_job (state, queue, priority, scheduled_at, id);
CREATE UNIQUE INDEX river_job_unique_idx ON river_job (unique_key)
    WHERE unique_key IS NOT NULL
        AND unique_states IS NOT NULL
        AND CASE state
            WHEN 'available' THEN unique_states & (1 << 0)
            WHEN 'cancelled' THEN unique_states & (1 << 1)
            WHEN 'completed' THEN unique_states & (1 << 2)
            WHEN 'discarded' THEN unique_states & (1 << 3)
            WHEN 'pending'   THEN unique_states & (1 << 4)
            WHEN 'retryable' THEN unique_states & (1 << 5)
            WHEN 'running'   THEN unique_states & (1 << 6)
            WHEN 'scheduled' THEN unique_states & (1 << 7)
            ELSE 0
        END >= 1;
COMMIT;
