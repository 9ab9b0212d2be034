-- What is watched in traffic. Events are in the tables of 006.

-- Texts that many rows repeat: assertions, versions, judges, segments.
CREATE TABLE watch_term (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE watch (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    project      TEXT NOT NULL,
    name         TEXT NOT NULL,
    salt         TEXT NOT NULL,
    number       INTEGER NOT NULL, -- of the current version
    created      INTEGER NOT NULL,
    removed      INTEGER NOT NULL DEFAULT 0, -- its rows are being removed
    pending      INTEGER NOT NULL DEFAULT 0, -- rows of watch_job
    last_verdict INTEGER, -- a pass or a fail
    last_error   INTEGER,
    error        TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX watch_name ON watch (project, name) WHERE removed = 0;

CREATE TABLE watch_version (
    watch      INTEGER NOT NULL REFERENCES watch (seq) ON DELETE CASCADE,
    number     INTEGER NOT NULL,
    hash       TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created    INTEGER NOT NULL,
    content    BLOB NOT NULL,
    PRIMARY KEY (watch, number)
) STRICT;

-- Events that wait to be evaluated. due is when a job may be leased: for a leased one, when
-- its lease expires.
CREATE TABLE watch_job (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    watch       INTEGER NOT NULL REFERENCES watch (seq),
    event       TEXT NOT NULL, -- id
    probability REAL NOT NULL,
    backfill    INTEGER NOT NULL,
    enqueued    INTEGER NOT NULL,
    due         INTEGER NOT NULL,
    attempt     INTEGER NOT NULL DEFAULT 0,
    token       INTEGER NOT NULL DEFAULT 0, -- of the lease, 0 if there is none
    reserved    REAL NOT NULL DEFAULT 0,
    day         INTEGER NOT NULL DEFAULT 0 -- that the reservation is of
) STRICT;
CREATE UNIQUE INDEX watch_job_event ON watch_job (watch, event);
CREATE INDEX watch_job_due ON watch_job (watch, backfill, due);
CREATE INDEX watch_job_first ON watch_job (watch, seq);
CREATE INDEX watch_job_leased ON watch_job (watch) WHERE token <> 0;
CREATE TRIGGER watch_job_added AFTER INSERT ON watch_job BEGIN
    UPDATE watch SET pending = pending + 1 WHERE seq = new.watch;
END;
CREATE TRIGGER watch_job_ended AFTER DELETE ON watch_job BEGIN
    UPDATE watch SET pending = pending - 1 WHERE seq = old.watch;
END;

-- day is days since 1970. It is by name, so that a watch that is made anew has no new budget.
CREATE TABLE watch_spend (
    project   TEXT NOT NULL,
    name      TEXT NOT NULL,
    day       INTEGER NOT NULL,
    reserved  REAL NOT NULL DEFAULT 0,
    spent     REAL NOT NULL DEFAULT 0,
    uncertain REAL NOT NULL DEFAULT 0,
    calls     INTEGER NOT NULL DEFAULT 0,
    lost      INTEGER NOT NULL DEFAULT 0,
    dropped   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (project, name, day)
) STRICT, WITHOUT ROWID;

-- assertion, set_version, judge, agent, version, model, prompt and segment are ids of terms.
CREATE TABLE watch_verdict (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    watch        INTEGER NOT NULL REFERENCES watch (seq),
    assertion    INTEGER NOT NULL,
    time         INTEGER NOT NULL, -- of the event
    status       INTEGER NOT NULL, -- as proviso.Status
    version      INTEGER NOT NULL,
    judge        INTEGER NOT NULL,
    segment      INTEGER NOT NULL,
    set_version  INTEGER NOT NULL,
    agent        INTEGER NOT NULL,
    model        INTEGER NOT NULL,
    prompt       INTEGER NOT NULL, -- its hash
    at           INTEGER NOT NULL,
    probability  REAL NOT NULL,
    backfill     INTEGER NOT NULL,
    cost         REAL NOT NULL,
    score        REAL,
    event        TEXT NOT NULL,
    conversation TEXT NOT NULL,
    reason       ANY NOT NULL -- text, or sealed as contents are
) STRICT;
CREATE UNIQUE INDEX watch_verdict_key ON watch_verdict (watch, event, assertion, set_version, judge);
CREATE INDEX watch_verdict_order ON watch_verdict (watch, seq);
CREATE INDEX watch_verdict_time ON watch_verdict (watch, assertion, time);
CREATE INDEX watch_verdict_old ON watch_verdict (at);

-- What verdicts add up to by hour of the event: sw is the sum of weights of pass and fail,
-- swf that of fail, sww that of squared weights.
CREATE TABLE watch_hour (
    watch     INTEGER NOT NULL REFERENCES watch (seq),
    assertion INTEGER NOT NULL,
    hour      INTEGER NOT NULL, -- hours since 1970
    version   INTEGER NOT NULL,
    judge     INTEGER NOT NULL,
    pass      INTEGER NOT NULL,
    fail      INTEGER NOT NULL,
    errors    INTEGER NOT NULL,
    skipped   INTEGER NOT NULL,
    sw        REAL NOT NULL,
    swf       REAL NOT NULL,
    sww       REAL NOT NULL,
    cost      REAL NOT NULL,
    PRIMARY KEY (watch, assertion, hour, version, judge)
) STRICT, WITHOUT ROWID;
CREATE TABLE watch_hour_segment (
    watch     INTEGER NOT NULL REFERENCES watch (seq),
    assertion INTEGER NOT NULL,
    hour      INTEGER NOT NULL,
    segment   INTEGER NOT NULL,
    pass      INTEGER NOT NULL,
    fail      INTEGER NOT NULL,
    errors    INTEGER NOT NULL,
    skipped   INTEGER NOT NULL,
    sw        REAL NOT NULL,
    swf       REAL NOT NULL,
    sww       REAL NOT NULL,
    cost      REAL NOT NULL,
    PRIMARY KEY (watch, assertion, hour, segment)
) STRICT, WITHOUT ROWID;

CREATE TABLE watch_chart (
    watch      INTEGER PRIMARY KEY REFERENCES watch (seq),
    sequence   INTEGER NOT NULL, -- of the last verdict that the state knows
    saved      INTEGER NOT NULL,
    state      BLOB NOT NULL
) STRICT;

CREATE TABLE watch_anchor (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    watch       INTEGER NOT NULL REFERENCES watch (seq),
    at          INTEGER NOT NULL,
    judge       TEXT NOT NULL,
    set_version TEXT NOT NULL,
    cost        REAL NOT NULL,
    results     BLOB NOT NULL
) STRICT;
CREATE INDEX watch_anchor_watch ON watch_anchor (watch, seq);

CREATE TABLE watch_alarm (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    id        TEXT NOT NULL UNIQUE,
    project   TEXT NOT NULL,
    watch     INTEGER NOT NULL REFERENCES watch (seq),
    kind      TEXT NOT NULL,
    assertion TEXT NOT NULL,
    state     TEXT NOT NULL,
    opened    INTEGER NOT NULL,
    closed    INTEGER,
    updated   INTEGER NOT NULL,
    acked_by  TEXT NOT NULL DEFAULT '',
    acked_at  INTEGER,
    body      BLOB NOT NULL
) STRICT;
CREATE INDEX watch_alarm_project ON watch_alarm (project, seq);
CREATE INDEX watch_alarm_watch ON watch_alarm (watch, seq);
CREATE INDEX watch_alarm_state ON watch_alarm (project, state, seq);

-- What is to be told to people. due is as in watch_job.
CREATE TABLE watch_notice (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    id       TEXT NOT NULL UNIQUE,
    project  TEXT NOT NULL,
    watch    INTEGER NOT NULL REFERENCES watch (seq),
    alarm    TEXT NOT NULL, -- id
    target   TEXT NOT NULL,
    event    TEXT NOT NULL,
    created  INTEGER NOT NULL,
    due      INTEGER NOT NULL,
    token    INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    sent     INTEGER,
    dropped  INTEGER,
    error    TEXT NOT NULL DEFAULT '',
    remote   TEXT NOT NULL DEFAULT '',
    body     BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX watch_notice_once ON watch_notice (alarm, target, event);
CREATE INDEX watch_notice_due ON watch_notice (project, due) WHERE sent IS NULL AND dropped IS NULL;
CREATE INDEX watch_notice_project ON watch_notice (project, seq);
CREATE INDEX watch_notice_watch ON watch_notice (watch);
