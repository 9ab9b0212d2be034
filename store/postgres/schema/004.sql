-- old servers: keep running
-- As step 012 of SQLite.
ALTER TABLE run ADD COLUMN needs TEXT COLLATE "C" NOT NULL DEFAULT '[]';
