// Package sched decides which jobs of a space-sharing cluster start when: first
// come first served, least work first or by any other order, with no, EASY or
// conservative backfilling, around hard advance reservations, with jobs that may
// be stopped and started again or may not. It is told what happens and at what
// time, and has no clock: the same code schedules a simulated month in a second
// and a live queue's possible futures.
package sched
