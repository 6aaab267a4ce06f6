// Package order tells what it is worth to know Slurm's own order. A Site is a private Slurm with
// priorities by fair share, age, size and QOS, and with limits of QOS, on which campaigns of jobs
// run that take seconds. What varqd would have seen of its queue is recorded, once. A Recording is
// then lived through again, in memory and as if all had taken hours, by forecasters that know the
// order or do not; their scores are of the same jobs.
//
// testdata/campaigns.jsonl.gz was recorded with -seed=11 -duration=42m -load=1.2, on Slurm 22.05.8.
// What go run ./test/order/cmd/order makes of it are scores of few, uneven days: the intervals are
// of ten blocks of time. testdata/unseen.jsonl.gz, with -seed=7 -duration=35m -load=1.1, was looked
// at only when everything had been chosen, but for the last choices: that with priorities known no
// other order is believed, nor that a longer queue than ever goes by past waits.
package order
