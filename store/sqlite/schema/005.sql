-- What people say of outputs. A later label of the same person on the same subject
-- replaces the earlier one: only one has current = 1.
CREATE TABLE label (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    project     TEXT NOT NULL,
    run         TEXT NOT NULL, -- id, '' for an evaluation; the label outlives it
    evaluation  TEXT NOT NULL, -- id, '' for a row
    row         INTEGER NOT NULL,
    assertion   TEXT NOT NULL, -- '' for the whole output
    person      TEXT NOT NULL,
    current     INTEGER NOT NULL,
    verdict     TEXT NOT NULL,
    judge       TEXT NOT NULL,
    judged      TEXT NOT NULL,
    person_name TEXT NOT NULL,
    created_by  TEXT NOT NULL,
    created     INTEGER NOT NULL,
    case_id     TEXT NOT NULL,
    output_id   TEXT NOT NULL,
    queue       TEXT NOT NULL, -- name, '' if none gave the item
    stratum     TEXT NOT NULL,
    rank        INTEGER NOT NULL,
    population  INTEGER NOT NULL,
    evidence    TEXT NOT NULL, -- JSON array of {start, end}
    note        TEXT NOT NULL
) STRICT;
CREATE INDEX label_subject ON label (project, run, evaluation, row, assertion, person, seq);
CREATE UNIQUE INDEX label_current ON label (project, run, evaluation, row, assertion, person) WHERE current = 1;
CREATE INDEX label_person ON label (project, person, seq);
CREATE INDEX label_of_queue ON label (project, queue, seq);
CREATE INDEX label_about ON label (project, run, evaluation, seq);
CREATE INDEX label_project ON label (project, seq);

-- What the labels in force of a run add up to, so that it need not be counted for each
-- label: people with judges, and people with each other. Only what decides counts.
CREATE TABLE label_judged (
    project   TEXT NOT NULL,
    run       TEXT NOT NULL,
    assertion TEXT NOT NULL,
    judge     TEXT NOT NULL,
    verdict   TEXT NOT NULL,
    judged    TEXT NOT NULL,
    n         INTEGER NOT NULL,
    PRIMARY KEY (project, run, assertion, judge, verdict, judged)
) STRICT, WITHOUT ROWID;
CREATE TABLE label_pair (
    project TEXT NOT NULL,
    run     TEXT NOT NULL,
    a       TEXT NOT NULL, -- the person whose name comes first
    b       TEXT NOT NULL,
    first   TEXT NOT NULL, -- what a says
    second  TEXT NOT NULL, -- what b says
    n       INTEGER NOT NULL,
    PRIMARY KEY (project, run, a, b, first, second)
) STRICT, WITHOUT ROWID;

-- What is to be labelled, in its order. Several versions of a queue may be there; only
-- one of a name is ready.
CREATE TABLE label_queue (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    project    TEXT NOT NULL,
    name       TEXT NOT NULL,
    run        TEXT NOT NULL, -- id
    ready      INTEGER NOT NULL DEFAULT 0,
    blind      INTEGER NOT NULL,
    people     INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created    INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    done       INTEGER NOT NULL DEFAULT 0 -- items that are not open
) STRICT;
CREATE UNIQUE INDEX label_queue_name ON label_queue (project, name) WHERE ready = 1;
CREATE INDEX label_queue_run ON label_queue (project, run);

CREATE TABLE label_item (
    queue      INTEGER NOT NULL REFERENCES label_queue (seq) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    row        INTEGER NOT NULL,
    assertion  TEXT NOT NULL,
    stratum    TEXT NOT NULL,
    rank       INTEGER NOT NULL,
    population INTEGER NOT NULL,
    why        TEXT NOT NULL,
    people     INTEGER NOT NULL DEFAULT 0, -- who labelled it
    open       INTEGER NOT NULL DEFAULT 1, -- fewer than the queue wants
    PRIMARY KEY (queue, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX label_item_subject ON label_item (queue, row, assertion);
CREATE INDEX label_item_open ON label_item (queue, position) WHERE open = 1;
CREATE TRIGGER label_item_done AFTER UPDATE OF open ON label_item WHEN old.open <> new.open BEGIN
    UPDATE label_queue SET done = done + old.open - new.open WHERE seq = new.queue;
    UPDATE label_worker SET still_open = still_open + new.open - old.open WHERE queue = new.queue AND person IN
        (SELECT l.person FROM label_queue q JOIN label l ON l.project = q.project AND l.run = q.run AND l.evaluation = '' AND l.row = new.row AND l.assertion = new.assertion AND l.current = 1
            WHERE q.seq = new.queue);
END;

CREATE TABLE label_lease (
    id       TEXT PRIMARY KEY,
    queue    INTEGER NOT NULL REFERENCES label_queue (seq) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    person   TEXT NOT NULL,
    expires  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX label_lease_item ON label_lease (queue, position);

-- What a person labelled in a queue.
CREATE TABLE label_worker (
    queue      INTEGER NOT NULL REFERENCES label_queue (seq) ON DELETE CASCADE,
    person     TEXT NOT NULL,
    reached    INTEGER NOT NULL DEFAULT 0, -- before this position, the person has labelled all open items
    labelled   INTEGER NOT NULL DEFAULT 0, -- items
    still_open INTEGER NOT NULL DEFAULT 0, -- of these
    PRIMARY KEY (queue, person)
) STRICT, WITHOUT ROWID;
