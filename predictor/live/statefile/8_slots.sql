-- slot is when the work is to begin, as there was room for it then when it was promised.
ALTER TABLE plans ADD COLUMN slot INTEGER NOT NULL DEFAULT 0;
UPDATE plans SET slot = begin_by;
