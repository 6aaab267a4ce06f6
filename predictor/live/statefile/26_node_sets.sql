-- node_set lists the nodes of its partition on which alone a job may run, or is empty.
ALTER TABLE plans ADD COLUMN node_set TEXT NOT NULL DEFAULT '';
