// Package sched is a scheduler: it decides when each job of a space-sharing cluster starts. It
// considers jobs first come first served, least work first, or in any other order, with no,
// EASY or conservative backfilling. It grants hard advance reservations, and may be configured
// to stop running jobs for them.
//
// Package sched has no clock. Every method takes the time at which something happens. In
// simulations package sim provides it.
package sched
