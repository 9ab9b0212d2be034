-- What agents answered in production.

CREATE TABLE traffic_agent (
    id      INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    name    TEXT NOT NULL,
    first   INTEGER NOT NULL, -- event that was received
    last    INTEGER NOT NULL,
    events  INTEGER NOT NULL,
    UNIQUE (project, name)
) STRICT;

-- body is the text in the form of event_content, NULL while only the hash is known.
CREATE TABLE traffic_prompt (
    id     INTEGER PRIMARY KEY,
    agent  INTEGER NOT NULL,
    hash   TEXT NOT NULL,
    first  INTEGER NOT NULL,
    last   INTEGER NOT NULL,
    events INTEGER NOT NULL,
    body   BLOB,
    UNIQUE (agent, hash)
) STRICT;

CREATE TABLE event (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order of received
    project      TEXT NOT NULL,
    id           TEXT NOT NULL,
    agent        INTEGER NOT NULL, -- in traffic_agent
    prompt       INTEGER NOT NULL, -- in traffic_prompt, 0 if there is none
    time         INTEGER NOT NULL,
    received     INTEGER NOT NULL,
    failed       INTEGER NOT NULL, -- the agent gave no answer
    conversation TEXT NOT NULL,
    trace        TEXT NOT NULL,
    version      TEXT NOT NULL,
    model        TEXT NOT NULL,
    person       TEXT NOT NULL, -- the user
    segment      TEXT NOT NULL, -- JSON object, '' if there is none
    tokens_in    INTEGER NOT NULL,
    tokens_out   INTEGER NOT NULL,
    cached       INTEGER NOT NULL,
    total        INTEGER NOT NULL,
    requests     INTEGER NOT NULL,
    cost         REAL NOT NULL,
    latency      INTEGER NOT NULL -- microseconds
) STRICT;
CREATE UNIQUE INDEX event_id ON event (project, id);
CREATE INDEX event_time ON event (project, time);
CREATE INDEX event_agent ON event (agent, time);
CREATE INDEX event_conversation ON event (project, conversation, time) WHERE conversation <> '';
CREATE INDEX event_trace ON event (project, trace) WHERE trace <> '';
CREATE INDEX event_person ON event (project, person, time) WHERE person <> '';

-- The texts of an event: compressed, and sealed if the database has a key. failure is 1 if
-- they are kept longer: the agent gave no answer, or a verdict is a fail.
CREATE TABLE event_content (
    event   INTEGER PRIMARY KEY REFERENCES event (seq) ON DELETE CASCADE,
    failure INTEGER NOT NULL,
    body    BLOB NOT NULL
) STRICT;
CREATE INDEX event_content_ordinary ON event_content (event) WHERE failure = 0;

-- A thumb is on an event or on a trace; the other is ''.
CREATE TABLE feedback (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order of received
    project  TEXT NOT NULL,
    event    TEXT NOT NULL,
    trace    TEXT NOT NULL,
    person   TEXT NOT NULL,
    value    INTEGER NOT NULL,
    time     INTEGER NOT NULL,
    received INTEGER NOT NULL,
    comment  BLOB -- in the form of event_content
) STRICT;
CREATE UNIQUE INDEX feedback_subject ON feedback (project, event, trace, person);
CREATE INDEX feedback_person ON feedback (project, person) WHERE person <> '';

-- What events add up to by hour of the event. dimension is '' for all events, version,
-- model, prompt, or segment. and a name.
CREATE TABLE traffic_hour (
    agent     INTEGER NOT NULL,
    hour      INTEGER NOT NULL, -- hours since 1970
    dimension TEXT NOT NULL,
    value     TEXT NOT NULL,
    events    INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    tokens    INTEGER NOT NULL,
    cost      REAL NOT NULL,
    latency   INTEGER NOT NULL, -- sum, microseconds
    PRIMARY KEY (agent, hour, dimension, value)
) STRICT, WITHOUT ROWID;

-- The key of contents, if there was one: what keys are derived with, and a known text that
-- only the right key opens.
CREATE TABLE content_key (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    salt  BLOB NOT NULL,
    known BLOB NOT NULL
) STRICT;

-- Items of queues may be events: event is as the column evaluation of their labels, and row is 0.
ALTER TABLE label_item ADD COLUMN event TEXT NOT NULL DEFAULT '';
DROP INDEX label_item_subject;
CREATE UNIQUE INDEX label_item_subject ON label_item (queue, row, assertion, event);
DROP TRIGGER label_item_done;
CREATE TRIGGER label_item_done AFTER UPDATE OF open ON label_item WHEN old.open <> new.open BEGIN
    UPDATE label_queue SET done = done + old.open - new.open WHERE seq = new.queue;
    UPDATE label_worker SET still_open = still_open + new.open - old.open WHERE queue = new.queue AND person IN
        (SELECT l.person FROM label_queue q JOIN label l ON l.project = q.project AND l.run = q.run AND l.evaluation = new.event AND l.row = new.row AND l.assertion = new.assertion AND l.current = 1
            WHERE q.seq = new.queue);
END;
