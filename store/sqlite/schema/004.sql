-- The rows of a run by prompt, and the questions to its judges: JSON. NULL in runs from
-- before, which are counted when that is asked for; their verdicts get the names of
-- assertions that have no id and no metric then, too.
ALTER TABLE run ADD COLUMN tally TEXT;
