-- version 1: a promise that is settled, one with a job, one without
INSERT INTO plans VALUES ('aaaaaaaaaaaa', 'alice', 'phys', 'main', 'normal', 4, 16, 1, 2048, 9400, 4200, 10000, 9940, 3600, 0.9, 0.93, 1, 'cancel', 1, 2, 3, 4, 5, 6, 77, 'main', 'varq:aaaaaaaaaaaa', 6400, 0);
INSERT INTO plans VALUES ('bbbbbbbbbbbb', 'bob', 'phys', 'main', 'normal', 4, 16, 1, 2048, 19400, 4200, 20000, 19940, 3600, 0.9, 0.93, 0, 'run', 1, 2, 3, 4, 5, 6, 77, 'main', 'varq:bbbbbbbbbbbb', 16400, 1);
INSERT INTO plans VALUES ('cccccccccccc', 'carol', 'phys', 'main', 'normal', 4, 16, 1, 2048, 29990, 4200, 30000, 29940, 3600, 0.9, 0.93, 0, '', 1, 2, 3, 4, 5, 6, 77, 'main', '', 26400, 1);
INSERT INTO bindings VALUES ('aaaaaaaaaaaa', 7, 6400, 'PENDING', 9700, 3900, 9400, 4200, 0, 0, 1, 9701, 0, 0);
INSERT INTO bindings VALUES ('bbbbbbbbbbbb', 8, 16500, 'PENDING', 19700, 3901, 19400, 4201, 1, 1, 0, 0, 0, 0);
INSERT INTO events VALUES (1, 'aaaaaaaaaaaa', 6401, 'bound', 'job 7');
INSERT INTO events VALUES (2, 'aaaaaaaaaaaa', 7000, 'note', 'not started by the deadline');
INSERT INTO events VALUES (3, 'bbbbbbbbbbbb', 17100, 'user', 'held');
INSERT INTO settlements VALUES ('aaaaaaaaaaaa', 14000, 'MISSED', 9701, 10800, 10801, 13900);
-- version 2: scores
INSERT INTO forecasts VALUES (2, 1728043200, 'blend', 1728043202, 1728052972, 'batch', 'nodes=1', x'0000803e');
INSERT INTO coverage VALUES (20000, 'blend', 'batch', 'nodes=1', 0.5, 2, 1, 3469.5);
INSERT INTO reliability VALUES (20000, 'blend', 'batch', 'nodes=1', 6, 2, 0.62, 1, 0.57);
-- version 3: odds, of which 1.5 misses and 1 that was expected are what they begin with
INSERT INTO odds VALUES (0, 1, 2);
INSERT INTO odds VALUES (1, 3, 4);
-- version 4: the second promise is settled, by the run of its job
INSERT INTO settlements (plan, at, outcome, eligible, start, work_start, end, run) VALUES ('bbbbbbbbbbbb', 24000, 'KEPT', 19701, 19800, 20000, 23600, 16500);
UPDATE plans SET open = 0 WHERE id = 'bbbbbbbbbbbb';
-- version 5: a job watched in shadow mode
INSERT INTO shadows VALUES (3, 100, 0.25, 'main', 4, 60, 120, 180, 240, 100, 150, 900);
-- version 6: odds of a user's
INSERT INTO odds VALUES ('alice', 0, 0.5, 0.25);
-- version 7: a job of srun's
INSERT INTO bindings (plan, job, submit, state, begin_time, time_limit, was_begin, was_limit, held, yielded, late, eligible, start, work_start, earliest, asks, name, interactive, stopped, interrupted, held_before, alloc_nodes)
	VALUES ('cccccccccccc', 9, 26500, 'RUNNING', 29990, 4200, 29990, 4200, 0, 0, 0, 29990, 29995, 0, 29940, 'nodes=4', 'shell', 1, 'JobHeldAdmin', 1, 30, 4);
-- version 8: a slot before the deadline
INSERT INTO plans (id, user, account, partition, qos, nodes, cpus, gpus, memory, begin_time, time_limit, begin_by, hold_until, work_limit, prob, estimate, best_effort, on_miss, work_node_seconds, work_billing_seconds, worst_node_seconds, worst_billing_seconds, expected_node_seconds, expected_billing_seconds, sample, class, comment, promised_at, earliest, slot)
	VALUES ('dddddddddddd', 'dora', '', 'gpu', '', 1, 8, 2, 0, 39000, 3700, 40000, 39900, 3600, 0.5, 0.6, 0, 'run', 1, 2, 3, 4, 5, 6, 12, 'gpu', 'varq:dddddddddddd', 36000, 38000, 39950);
-- version 9: pieces
UPDATE plans SET pieces = 2, piece_cpus = 4, piece_gpus = 1, piece_memory = 512, exclusive = 1 WHERE id = 'dddddddddddd';
-- version 10: a promise about a job's end
INSERT INTO plans (id, user, account, partition, qos, nodes, cpus, gpus, memory, begin_time, time_limit, begin_by, hold_until, work_limit, prob, estimate, best_effort, on_miss, work_node_seconds, work_billing_seconds, worst_node_seconds, worst_billing_seconds, expected_node_seconds, expected_billing_seconds, sample, class, comment, promised_at, finish_by, time_out, lost)
	VALUES ('eeeeeeeeeeee', 'eve', '', 'main', '', 1, 1, 0, 0, 0, 3600, 0, 0, 3600, 0.8, 0.85, 0, 'run', 1, 2, 0, 0, 0, 0, 50, 'main', 'varq:eeeeeeeeeeee', 41000, 50000, 0.01, 0.002);
-- version 11: forecasts of failures
INSERT INTO fault_rounds VALUES (1728000000, '{}');
INSERT INTO fault_failures VALUES ('node1', 1728000100);
INSERT INTO fault_scores VALUES (20000, 'model', '{}');
INSERT INTO fault_votes VALUES ('model', 0.75);
-- version 12: a job whose node failed
UPDATE plans SET checkpoint_interval = 600 WHERE id = 'eeeeeeeeeeee';
INSERT INTO settlements (plan, at, outcome, eligible, start, work_start, end, run, evicted) VALUES ('eeeeeeeeeeee', 49000, 'MISSED', 41000, 42000, 42000, 45000, 41000, 1);
UPDATE bindings SET worked_before = 40 WHERE plan = 'cccccccccccc';
-- version 13: what was noticed of a node
INSERT INTO vitals_noticed VALUES ('node1', 'memory', 1728000050, '3 corrected errors');
-- version 14: a promise that had to be confirmed
UPDATE plans SET tentative = 36060 WHERE id = 'dddddddddddd';
INSERT INTO bindings (plan, job, submit, state, begin_time, time_limit, was_begin, was_limit, held, yielded, late, eligible, start, work_start, confirmed) VALUES ('dddddddddddd', 10, 36001, 'PENDING', 39000, 3700, 39000, 3700, 0, 0, 0, 0, 0, 0, 36030);
-- version 15: groups, one that was won by its second member, and one of which nothing is decided
UPDATE plans SET group_id = 'gggggggggggg', home = 'beta' WHERE id = 'dddddddddddd';
INSERT INTO groups VALUES ('gggggggggggg', 'any', 'dora', 40000, 36002, 0.75, 0.7, 0.7, 39960, 'dddddddddddd', 0, '', 0);
INSERT INTO groups VALUES ('hhhhhhhhhhhh', 'all', 'dora', 60000, 36003, 0.75, 0.7, 0.7, 0, '', 0, '', 0);
INSERT INTO group_members VALUES ('gggggggggggg', 0, 'alpha', 'main', 'iiiiiiiiiiii', 11, 0.5, 0);
INSERT INTO group_members VALUES ('gggggggggggg', 1, 'beta', 'gpu', 'dddddddddddd', 10, 0.5, 39950);
INSERT INTO group_members VALUES ('hhhhhhhhhhhh', 0, 'alpha', 'main', 'jjjjjjjjjjjj', 12, 0.5, 0);
INSERT INTO joint VALUES (1, '{}');
-- version 16: parts
UPDATE group_members SET part = 1, withdrawn = 1 WHERE plan = 'iiiiiiiiiiii';
-- version 17: idle nodes
INSERT INTO idle_nodes VALUES ('', 1728000000, 'main', 7);
-- version 18: a home that has let the work begin
UPDATE bindings SET gated = 39955, gate = 'go' WHERE plan = 'dddddddddddd';
-- version 19: a size that is not locked in
INSERT INTO resizes VALUES ('kkkkkkkkkkkk', 'kim', 1728000000, '{}', 4, 0, 13, 1728000001, 'a', 'b');
-- version 20: a group that only one site has asked about
UPDATE groups SET vouched = 0, estimate = 0.72 WHERE id = 'hhhhhhhhhhhh';
UPDATE group_members SET held = 1 WHERE plan = 'jjjjjjjjjjjj';
-- version 21: how often quantiles held in groups of jobs
INSERT INTO held VALUES (20000, 'blend', 'user', 'alice', 0.5, 4, 2);
UPDATE forecasts SET groups = '["user=alice"]';
-- version 22: what a site lets a group have
UPDATE plans SET group_prob = 0.8 WHERE id = 'dddddddddddd';
-- version 23: a forecast on a finer grid
INSERT INTO forecasts VALUES (4, 1728043300, 'blend', 1728043302, 1728052973, 'batch', 'nodes=2', x'0000803f', '[]', 10);
-- version 24: who has brought the file to it
INSERT INTO schemas VALUES (24, '0.1.0', 1728000000);
-- version 25: a plan that was taken back
INSERT INTO schemas VALUES (25, '0.1.0', 1728000000);
UPDATE plans SET withdrawn = 1728000000 WHERE id = 'dddddddddddd';
-- version 26: a job that may run on some nodes of its partition only
INSERT INTO schemas VALUES (26, '0.1.0', 1728000000);
UPDATE plans SET node_set = 'n[1-4]' WHERE id = 'dddddddddddd';
-- version 27: an array, of which a task has started
INSERT INTO schemas VALUES (27, '0.1.0', 1728000000);
UPDATE plans SET array_tasks = 6, array_at_once = 3, tasks = 3, tasks_nodes = 2 WHERE id = 'dddddddddddd';
INSERT INTO tasks VALUES ('dddddddddddd', 14, 39950, 0, 1);
-- version 28: a job inside of a reservation of Slurm's
INSERT INTO schemas VALUES (28, '0.1.0', 1728000000);
UPDATE plans SET inside = 'course', at_once = 2 WHERE id = 'dddddddddddd';
-- version 29: a job that needs licences
INSERT INTO schemas VALUES (29, '0.1.0', 1728000000);
UPDATE plans SET licences = 'matlab:2' WHERE id = 'dddddddddddd';
-- version 30: how near medians came
INSERT INTO schemas VALUES (30, '0.1.0', 1728000000);
INSERT INTO near VALUES (20000, 'wait', 'main', 'all', 'varq', 10, 4, 7, 8, 2.5);
INSERT INTO recent VALUES ('wait', '[60,120]');
-- version 31: a job that waits for another, and a flow
INSERT INTO schemas VALUES (31, '0.1.0', 1728000000);
UPDATE plans SET dependency = 'afterok:17' WHERE id = 'dddddddddddd';
INSERT INTO flows VALUES ('ffffffffffff', 'alice', 'night', '[17,18]', 50000, 0.9, 0.93, 1000, 'KEPT', 49000, 48000, '', '[]');
-- version 32: what was learnt of courses
INSERT INTO schemas VALUES (32, '0.1.0', 1728000000);
INSERT INTO learnt VALUES ('courses', '{"precision":[1,0,1],"shift":[0,0],"at":1728000000,"hour":480000,"burst":1}');
