-- held is 1 for members whose users had kept their jobs from starting when the group's deadline passed.
ALTER TABLE group_members ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
