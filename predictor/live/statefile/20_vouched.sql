-- prob is what was promised, and estimate the forecast. vouched is 1 once a site's varqd has asked about the group, so that it has a job.
-- held is 1 for members whose users had kept their jobs from starting when the group's deadline passed.
ALTER TABLE groups ADD COLUMN estimate REAL NOT NULL DEFAULT 0;
ALTER TABLE groups ADD COLUMN vouched INTEGER NOT NULL DEFAULT 0;
UPDATE groups SET estimate = prob, vouched = 1;
ALTER TABLE group_members ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
