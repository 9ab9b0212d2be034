-- What the person who acknowledged the alarm says about it.
ALTER TABLE watch_alarm ADD COLUMN ack_note TEXT NOT NULL DEFAULT '';
