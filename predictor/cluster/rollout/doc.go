// Package rollout simulates one machine from a moment on: the jobs that run, those
// that wait, and those that will come. Everything is known when a rollout begins: run
// times, arrivals, and the place of each job in the queue. That makes a rollout cheap
// enough to be made for every question about a queue.
//
// It does what packages sched and sim do, without reservations and with no or EASY
// backfilling alone, and the tests hold it against them.
package rollout
