-- Keys, and what is made with them, belong to projects. What was there before is of
-- the project "default".

ALTER TABLE api_key ADD COLUMN project TEXT NOT NULL DEFAULT 'default';
ALTER TABLE run ADD COLUMN project TEXT NOT NULL DEFAULT 'default';
ALTER TABLE evaluation ADD COLUMN project TEXT NOT NULL DEFAULT 'default';

-- The lists of a project.
DROP INDEX run_suite;
CREATE INDEX run_project ON run (project, seq);
CREATE INDEX run_suite ON run (project, suite, seq);
DROP INDEX evaluation_agent;
DROP INDEX evaluation_created_by;
CREATE INDEX evaluation_project ON evaluation (project, seq);
CREATE INDEX evaluation_agent ON evaluation (project, agent, seq);
CREATE INDEX evaluation_created_by ON evaluation (project, created_by, seq);

-- The names of documents are free in each project. SQLite cannot change what is
-- unique in a table, so these two are made anew, with the same numbers.
CREATE TABLE project_document (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    project     TEXT NOT NULL DEFAULT 'default',
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    hash        TEXT NOT NULL,
    number      INTEGER NOT NULL,
    prompt_hash TEXT NOT NULL,
    media_type  TEXT NOT NULL,
    created_by  TEXT NOT NULL,
    created     INTEGER NOT NULL,
    content     BLOB NOT NULL, -- last, so that lists need not read over it
    UNIQUE (project, kind, name, hash),
    UNIQUE (project, kind, name, number)
) STRICT;
INSERT INTO project_document (seq, kind, name, hash, number, prompt_hash, media_type, created_by, created, content)
    SELECT seq, kind, name, hash, number, prompt_hash, media_type, created_by, created, content FROM document;
CREATE TABLE project_current (
    project  TEXT NOT NULL DEFAULT 'default',
    kind     TEXT NOT NULL,
    name     TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES project_document (seq),
    PRIMARY KEY (project, kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO project_current (kind, name, document) SELECT kind, name, document FROM current;
DROP TABLE current;
DROP TABLE document;
ALTER TABLE project_document RENAME TO document;
ALTER TABLE project_current RENAME TO current;
