-- What outcomes have taught of the probabilities that a forecaster names: a flow.Learnt, as JSON. Before, it was the same
-- for each class of jobs.
ALTER TABLE learnt RENAME COLUMN platt TO outcomes;
UPDATE learnt SET outcomes = json_array(json(outcomes), json(outcomes), json(outcomes), json(outcomes), json(outcomes));
