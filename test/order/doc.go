// Package order measures what it is worth to know Slurm's own order. A Site is a private Slurm with
// priorities by fair share, age, size and QOS, and with limits of QOS. Campaigns of jobs that take
// seconds run on it. A Recording has what varqd would have seen of the queue of such a campaign. It
// is recorded once. Then it is replayed in memory, as if everything had taken hours, for
// forecasters that know the order and for forecasters that do not. Their scores are of the same
// jobs. Of jobs while they wait, Slurm's own estimate of when they start is scored beside them.
//
// testdata/campaigns.jsonl.gz was recorded with -seed=11 -duration=42m -load=1.2, on Slurm 22.05.8.
// go run ./test/order/cmd/order computes scores from it. These rest on few, uneven days: the
// intervals are of ten blocks of time. testdata/unseen.jsonl.gz was recorded with -seed=7
// -duration=35m -load=1.1. It was looked at only when all choices had been made but the last two:
// where priorities are known, no other order is believed, and past waits do not decide for a queue
// that is longer than ever.
package order
