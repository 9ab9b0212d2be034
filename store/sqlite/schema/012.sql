-- What a process must have to execute a run, as a sorted JSON list; '[]' is nothing.
ALTER TABLE run ADD COLUMN needs TEXT NOT NULL DEFAULT '[]';
