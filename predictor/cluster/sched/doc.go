// Package sched is a scheduler: it decides which jobs of a space-sharing cluster start
// when. Jobs are considered first come first served, least work first, or in any other
// order, with no, EASY or conservative backfilling. There may be hard advance
// reservations, which may stop running jobs or may not.
//
// Package sched has no clock. Every method takes the time at which something happens;
// package sim provides it in simulations.
package sched
