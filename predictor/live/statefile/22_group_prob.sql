-- group_prob is the probability with which the group is promised of which the promise is a member, or 0.
ALTER TABLE plans ADD COLUMN group_prob REAL NOT NULL DEFAULT 0;
