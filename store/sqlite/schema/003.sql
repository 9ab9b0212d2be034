-- The first and the last line of the file of a run that was made elsewhere. Its rows
-- are in result.
CREATE TABLE run_file (
    run     INTEGER PRIMARY KEY REFERENCES run (seq) ON DELETE CASCADE,
    header  BLOB NOT NULL,
    trailer BLOB NOT NULL
) STRICT;
