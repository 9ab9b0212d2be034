-- How often a trial of a judge has shown the held-out half of the labelled outputs.
CREATE TABLE trial_look (
    project   TEXT NOT NULL,
    run       TEXT NOT NULL, -- id; the count outlives it, as its labels do
    assertion TEXT NOT NULL,
    n         INTEGER NOT NULL,
    PRIMARY KEY (project, run, assertion)
) STRICT, WITHOUT ROWID;
