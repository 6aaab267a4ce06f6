CREATE TABLE plans (
	id TEXT PRIMARY KEY,
	user TEXT NOT NULL, account TEXT NOT NULL, partition TEXT NOT NULL, qos TEXT NOT NULL,
	nodes INTEGER NOT NULL, cpus INTEGER NOT NULL, gpus INTEGER NOT NULL, memory INTEGER NOT NULL,
	begin_time INTEGER NOT NULL, time_limit INTEGER NOT NULL,
	begin_by INTEGER NOT NULL, hold_until INTEGER NOT NULL, work_limit INTEGER NOT NULL,
	prob REAL NOT NULL, estimate REAL NOT NULL,
	best_effort INTEGER NOT NULL, on_miss TEXT NOT NULL,
	work_node_seconds REAL NOT NULL, work_billing_seconds REAL NOT NULL,
	worst_node_seconds REAL NOT NULL, worst_billing_seconds REAL NOT NULL,
	expected_node_seconds REAL NOT NULL, expected_billing_seconds REAL NOT NULL,
	sample INTEGER NOT NULL, class TEXT NOT NULL, comment TEXT NOT NULL,
	promised_at INTEGER NOT NULL,
	open INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX plans_by_user ON plans (user, begin_by);
CREATE INDEX plans_by_deadline ON plans (begin_by);
CREATE INDEX plans_open ON plans (begin_by) WHERE open;
CREATE TABLE bindings (
	plan TEXT PRIMARY KEY REFERENCES plans,
	job INTEGER NOT NULL, submit INTEGER NOT NULL,
	state TEXT NOT NULL,
	begin_time INTEGER NOT NULL, time_limit INTEGER NOT NULL,
	was_begin INTEGER NOT NULL, was_limit INTEGER NOT NULL,
	held INTEGER NOT NULL, yielded INTEGER NOT NULL, late INTEGER NOT NULL,
	eligible INTEGER NOT NULL, start INTEGER NOT NULL, work_start INTEGER NOT NULL,
	UNIQUE (job, submit)
) STRICT;
CREATE TABLE events (
	id INTEGER PRIMARY KEY,
	plan TEXT NOT NULL REFERENCES plans,
	at INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_plan ON events (plan, id);
CREATE TABLE settlements (
	plan TEXT PRIMARY KEY REFERENCES plans,
	at INTEGER NOT NULL, outcome TEXT NOT NULL,
	eligible INTEGER NOT NULL, start INTEGER NOT NULL, work_start INTEGER NOT NULL, end INTEGER NOT NULL
) STRICT;
CREATE VIEW reservations AS SELECT p.*,
	coalesce(s.outcome, b.state, 'PROMISED') AS state,
	coalesce(b.job, 0) AS job, coalesce(b.submit, 0) AS submit,
	coalesce(b.begin_time, p.begin_time) AS set_begin_time, coalesce(b.time_limit, p.time_limit) AS set_time_limit,
	coalesce(b.was_begin, p.begin_time) AS was_begin, coalesce(b.was_limit, p.time_limit) AS was_limit,
	coalesce(b.held, 0) AS held, coalesce(b.yielded, 0) AS yielded, coalesce(b.late, 0) AS late,
	coalesce(s.eligible, b.eligible, 0) AS eligible, coalesce(s.start, b.start, 0) AS start,
	coalesce(s.work_start, b.work_start, 0) AS work_start, coalesce(s.end, 0) AS end,
	coalesce((SELECT e.text FROM events e WHERE e.plan = p.id AND e.kind IN ('user', 'note') ORDER BY e.id DESC LIMIT 1), '') AS note
FROM plans p LEFT JOIN bindings b ON b.plan = p.id LEFT JOIN settlements s ON s.plan = p.id;
CREATE TABLE forecasts (
	job INTEGER NOT NULL, submit INTEGER NOT NULL, forecaster TEXT NOT NULL,
	eligible INTEGER NOT NULL, due INTEGER NOT NULL,
	partition TEXT NOT NULL, class TEXT NOT NULL,
	cdf BLOB NOT NULL,
	PRIMARY KEY (job, submit, forecaster)
) STRICT, WITHOUT ROWID;
CREATE INDEX forecasts_by_age ON forecasts (eligible);
CREATE TABLE coverage (
	day INTEGER NOT NULL, forecaster TEXT NOT NULL, partition TEXT NOT NULL, class TEXT NOT NULL,
	level REAL NOT NULL,
	n INTEGER NOT NULL, covered INTEGER NOT NULL, pinball REAL NOT NULL,
	PRIMARY KEY (day, forecaster, partition, class, level)
) STRICT, WITHOUT ROWID;
CREATE TABLE reliability (
	day INTEGER NOT NULL, forecaster TEXT NOT NULL, partition TEXT NOT NULL, class TEXT NOT NULL,
	bin INTEGER NOT NULL,
	n INTEGER NOT NULL, predicted REAL NOT NULL, came_true INTEGER NOT NULL, squares REAL NOT NULL,
	PRIMARY KEY (day, forecaster, partition, class, bin)
) STRICT, WITHOUT ROWID;
CREATE TABLE odds (place INTEGER PRIMARY KEY, missed REAL NOT NULL, said REAL NOT NULL) STRICT;
INSERT INTO plans VALUES ('aaaaaaaaaaaa', 'alice', 'phys', 'main', 'normal', 4, 16, 1, 2048, 9400, 4200, 10000, 9940, 3600, 0.9, 0.93, 1, 'cancel', 1, 2, 3, 4, 5, 6, 77, 'main', 'varq:aaaaaaaaaaaa', 6400, 0);
INSERT INTO plans VALUES ('bbbbbbbbbbbb', 'bob', 'phys', 'main', 'normal', 4, 16, 1, 2048, 19400, 4200, 20000, 19940, 3600, 0.9, 0.93, 1, 'cancel', 1, 2, 3, 4, 5, 6, 77, 'main', 'varq:bbbbbbbbbbbb', 16400, 1);
INSERT INTO plans VALUES ('cccccccccccc', 'carol', 'phys', 'main', 'normal', 4, 16, 1, 2048, 29400, 4200, 30000, 29940, 3600, 0.9, 0.93, 1, 'cancel', 1, 2, 3, 4, 5, 6, 77, 'main', 'varq:cccccccccccc', 26400, 1);
INSERT INTO bindings VALUES ('aaaaaaaaaaaa', 7, 6400, 'PENDING', 9700, 3900, 9400, 4200, 0, 0, 1, 9701, 0, 0);
INSERT INTO bindings VALUES ('bbbbbbbbbbbb', 8, 6500, 'PENDING', 19700, 3901, 19400, 4201, 1, 1, 0, 0, 0, 0);
INSERT INTO events VALUES (1, 'aaaaaaaaaaaa', 6401, 'bound', 'job 7');
INSERT INTO events VALUES (2, 'aaaaaaaaaaaa', 7000, 'note', 'not started by the deadline');
INSERT INTO events VALUES (3, 'aaaaaaaaaaaa', 14000, 'settled', 'MISSED');
INSERT INTO events VALUES (4, 'bbbbbbbbbbbb', 6501, 'bound', 'job 8');
INSERT INTO events VALUES (5, 'bbbbbbbbbbbb', 7100, 'user', 'held');
INSERT INTO settlements VALUES ('aaaaaaaaaaaa', 14000, 'MISSED', 9701, 10800, 10801, 13900);
INSERT INTO forecasts VALUES (2, 1728043200, 'blend', 1728043202, 1728052972, 'batch', 'nodes=1', x'0000803ee351803ef6be803eea2b813ebf98813e7605823e4da8823ecc2f833e2ced833e2eaa843ebe81853ed258863e0165873e7170883e62b0893eca098b3e607c8c3e23228e3e36e08f3e47d0913e86f1933ec75c963e00f7983e1bbf9b3e30e69e3ec250a23eb6fca53e7318aa3ebe87ae3ea95eb33e96afb83e1074be3e31a5c43e8c67cb3e6ab0d23e5089da3eddf8e23e8d02ec3e7ab9f53ef702003f2c79053fe1380b3f8349113f609e173f09301e3f3ffa243fd1ed2b3f72fe323fd2203a3f7b3b413fb240483f591a4f3ff4b3553f82f75b3f7bcf613f012e673fee006c3fd741703f51ea733f9bf9763f6e77793f846d7b3f08eb7c3fe5017e3ff8c47e3f16477f3f5b997f3f75ca7f3fede57f3f3af47f3f1dfb7f3f26fe7f3f5eff7f3fcfff7f3ff3ff7f3ffdff7f3fffff7f3f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f');
INSERT INTO forecasts VALUES (2, 1728043200, 'qbets', 1728043202, 1728052972, 'batch', 'nodes=1', x'0000803ee351803ef6be803eea2b813ebf98813e7605823e4da8823ecc2f833e2ced833e2eaa843ebe81853ed258863e0165873e7170883e62b0893eca098b3e607c8c3e23228e3e36e08f3e47d0913e86f1933ec75c963e00f7983e1bbf9b3e30e69e3ec250a23eb6fca53e7318aa3ebe87ae3ea95eb33e96afb83e1074be3e31a5c43e8c67cb3e6ab0d23e5089da3eddf8e23e8d02ec3e7ab9f53ef702003f2c79053fe1380b3f8349113f609e173f09301e3f3ffa243fd1ed2b3f72fe323fd2203a3f7b3b413fb240483f591a4f3ff4b3553f82f75b3f7bcf613f012e673fee006c3fd741703f51ea733f9bf9763f6e77793f846d7b3f08eb7c3fe5017e3ff8c47e3f16477f3f5b997f3f75ca7f3fede57f3f3af47f3f1dfb7f3f26fe7f3f5eff7f3fcfff7f3ff3ff7f3ffdff7f3fffff7f3f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f');
INSERT INTO coverage VALUES (20000, 'blend', 'batch', 'nodes=1', 0.5, 2, 1, 3469.5);
INSERT INTO coverage VALUES (20000, 'blend', 'batch', 'nodes=1', 0.75, 2, 1, 3255.229443786957);
INSERT INTO coverage VALUES (20000, 'blend', 'batch', 'nodes=1', 0.9, 2, 2, 746.6244300581452);
INSERT INTO coverage VALUES (20000, 'blend', 'batch', 'nodes=1', 0.95, 2, 2, 624.0348177593876);
INSERT INTO coverage VALUES (20000, 'qbets', 'batch', 'nodes=1', 0.5, 2, 1, 3469.5);
INSERT INTO coverage VALUES (20000, 'qbets', 'batch', 'nodes=1', 0.75, 2, 1, 3255.229443786957);
INSERT INTO coverage VALUES (20000, 'qbets', 'batch', 'nodes=1', 0.9, 2, 2, 746.6244300581452);
INSERT INTO coverage VALUES (20000, 'qbets', 'batch', 'nodes=1', 0.95, 2, 2, 624.0348177593876);
INSERT INTO reliability VALUES (20000, 'blend', 'batch', 'nodes=1', 6, 2, 0.6199301891028881, 1, 0.5722265305776832);
INSERT INTO reliability VALUES (20000, 'blend', 'batch', 'nodes=1', 10, 2, 1.0901411498586338, 1, 0.5040627134489183);
INSERT INTO reliability VALUES (20000, 'blend', 'batch', 'nodes=1', 14, 2, 1.447915953227452, 1, 0.6003143505778286);
INSERT INTO reliability VALUES (20000, 'blend', 'batch', 'nodes=1', 17, 2, 1.7962740152440173, 2, 0.020752138432397448);
INSERT INTO reliability VALUES (20000, 'blend', 'batch', 'nodes=1', 19, 6, 5.996125567627698, 6, 7.463399492393383e-06);
INSERT INTO reliability VALUES (20000, 'qbets', 'batch', 'nodes=1', 6, 2, 0.6199301891028881, 1, 0.5722265305776832);
INSERT INTO reliability VALUES (20000, 'qbets', 'batch', 'nodes=1', 10, 2, 1.0901411498586338, 1, 0.5040627134489183);
INSERT INTO reliability VALUES (20000, 'qbets', 'batch', 'nodes=1', 14, 2, 1.447915953227452, 1, 0.6003143505778286);
INSERT INTO reliability VALUES (20000, 'qbets', 'batch', 'nodes=1', 17, 2, 1.7962740152440173, 2, 0.020752138432397448);
INSERT INTO reliability VALUES (20000, 'qbets', 'batch', 'nodes=1', 19, 6, 5.996125567627698, 6, 7.463399492393383e-06);
INSERT INTO odds VALUES (0, 1, 2);
INSERT INTO odds VALUES (1, 3, 4);
INSERT INTO odds VALUES (2, 5, 6);
INSERT INTO odds VALUES (3, 7, 8.5);
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append only'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append only'); END;
PRAGMA user_version = 3;
