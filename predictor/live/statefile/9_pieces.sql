-- pieces is the number of pieces that cannot be spread over nodes, or 0 if that is not known, and
-- piece_cpus, piece_gpus and piece_memory are what each needs; exclusive is true if each is a node
-- that no other job is on.
ALTER TABLE plans ADD COLUMN pieces INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plans ADD COLUMN piece_cpus INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plans ADD COLUMN piece_gpus INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plans ADD COLUMN piece_memory INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plans ADD COLUMN exclusive INTEGER NOT NULL DEFAULT 0;
