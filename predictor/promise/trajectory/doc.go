// Package trajectory is the VARQ algorithm (Nurmi, Wolski and Brevik, UCSB technical
// report 2007-09, section 3). It plans a reservation for a job: when the job becomes
// eligible, and with which time limit, so that its work runs by a deadline with the
// probability asked for, at the least cost.
//
// A job that becomes eligible early is more likely to run by the deadline. It may
// also start early; then it holds its nodes, idle, until the deadline, and its time
// limit must have room for that. A Planner asks a Forecaster about every begin time
// between now and the deadline. The answers are the probability trajectory, and the
// plan is its cheapest point that is good enough. If there is none, the Planner
// refuses, and offers similar requests that can be promised.
//
// Planner.Replan looks again at a reservation whose job is still pending.
package trajectory
