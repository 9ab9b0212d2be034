-- old servers: keep running
-- As step 011 of SQLite.
ALTER TABLE run ADD COLUMN part_rows BIGINT NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN parts BIGINT NOT NULL DEFAULT 0;

CREATE TABLE run_part (
    run        BIGINT NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    number     BIGINT NOT NULL,
    owner      TEXT COLLATE "C" NOT NULL,
    lease      BIGINT NOT NULL,
    done       BIGINT NOT NULL DEFAULT 0,
    attempts   BIGINT NOT NULL,
    begun_with BIGINT NOT NULL, -- rows that the run had when the part was taken
    PRIMARY KEY (run, number)
);
CREATE INDEX run_part_owner ON run_part (owner) WHERE done = 0;
CREATE INDEX run_divided ON run (seq) WHERE status = 'running' AND parts > 0;

CREATE TABLE endpoint_rate (
    endpoint   TEXT COLLATE "C" PRIMARY KEY,
    rate       DOUBLE PRECISION NOT NULL,
    refused_at DOUBLE PRECISION NOT NULL,
    used       DOUBLE PRECISION NOT NULL,
    before     DOUBLE PRECISION NOT NULL,
    next       BIGINT NOT NULL,
    not_before BIGINT NOT NULL,
    cut        BIGINT NOT NULL,
    grown      BIGINT NOT NULL,
    win        BIGINT NOT NULL
);
