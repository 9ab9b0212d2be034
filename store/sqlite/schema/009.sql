-- A run that is executed has an owner, and is its own until the lease ends, unless the
-- owner renews it. due is when a queued one may begin.
ALTER TABLE run ADD COLUMN due INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN lease INTEGER NOT NULL DEFAULT 0;
CREATE INDEX run_queued ON run (seq) WHERE status = 'queued';
-- The queue of earlier versions.
DROP TABLE IF EXISTS river_job;
DROP TABLE IF EXISTS river_job_dead_letter;
DROP TABLE IF EXISTS river_leader;
DROP TABLE IF EXISTS river_client_queue;
DROP TABLE IF EXISTS river_client;
DROP TABLE IF EXISTS river_queue;
DROP TABLE IF EXISTS river_notification;
DROP TABLE IF EXISTS river_migration;
