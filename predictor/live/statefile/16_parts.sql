-- part is which part of its group a member is of; 0 stands for a part of its own. won is 1 for the members whose work runs,
-- one of each part, once the group is decided. withdrawn is 1 for those whose job was cancelled before.
ALTER TABLE group_members ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
ALTER TABLE group_members ADD COLUMN won INTEGER NOT NULL DEFAULT 0;
ALTER TABLE group_members ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0;
UPDATE group_members SET won = 1 WHERE EXISTS (SELECT 1 FROM groups g WHERE g.id = group_id AND (g.winner = plan OR g.go <> 0));
ALTER TABLE groups DROP COLUMN winner;
