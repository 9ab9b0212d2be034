-- A run may be divided into parts of part_rows rows, which several processes execute at
-- once; parts is how many, 0 if one process executes the whole run.
ALTER TABLE run ADD COLUMN part_rows INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;

-- The parts that were taken, until their run ends. One without an owner can be taken again.
CREATE TABLE run_part (
    run        INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    number     INTEGER NOT NULL,
    owner      TEXT NOT NULL,
    lease      INTEGER NOT NULL,
    done       INTEGER NOT NULL DEFAULT 0,
    attempts   INTEGER NOT NULL,
    begun_with INTEGER NOT NULL, -- rows that the run had when the part was taken
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_part_owner ON run_part (owner) WHERE done = 0;
CREATE INDEX run_divided ON run (seq) WHERE status = 'running' AND parts > 0;

-- What is known of the rates of the endpoints of models, for all processes: see store.Rates.
-- Rates are requests a second.
CREATE TABLE endpoint_rate (
    endpoint   TEXT PRIMARY KEY,
    rate       REAL NOT NULL,
    refused_at REAL NOT NULL,
    used       REAL NOT NULL,
    before     REAL NOT NULL,
    next       INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    cut        INTEGER NOT NULL,
    grown      INTEGER NOT NULL,
    win        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
