-- Which varq has brought the file to which schema version, and when.
CREATE TABLE schemas (version INTEGER PRIMARY KEY, varq TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
