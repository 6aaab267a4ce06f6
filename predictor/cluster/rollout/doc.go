// Package rollout simulates a queue from a moment on. A rollout is one such simulation. It begins
// with the jobs that run, the jobs that wait, and the jobs that will come. All run times and
// arrivals, and each job's place in the queue, are known when it begins. So a rollout is cheap
// enough to be made for every question about a queue.
//
// A rollout gives the same result as packages sched and sim, as the tests check. But it knows EASY
// backfilling only. A reservation is a window in which fewer processors are left.
package rollout
