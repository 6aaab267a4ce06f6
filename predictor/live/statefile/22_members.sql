-- group_prob of a plan is the probability that the site lets the plan's group have. vouched of a member is 1 once its site's varqd has said
-- of the member what the group says of it; that of the group is no more.
ALTER TABLE plans ADD COLUMN group_prob REAL NOT NULL DEFAULT 0;
ALTER TABLE group_members ADD COLUMN vouched INTEGER NOT NULL DEFAULT 0;
UPDATE group_members SET vouched = 1 WHERE group_id IN (SELECT id FROM groups WHERE vouched = 1);
ALTER TABLE groups DROP COLUMN vouched;
