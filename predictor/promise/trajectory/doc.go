// Package trajectory is the VARQ algorithm (Nurmi, Wolski and Brevik, UCSB technical
// report 2007-09, section 3). It plans a reservation for a job: when the job becomes
// eligible, and with which time limit, so that its work runs by a deadline with the
// probability asked for, at the least cost.
//
// A job that becomes eligible early is more likely to run by the deadline. But the job may
// also start early. Its nodes then idle until the time HoldUntil, when the work begins, and
// its time limit must cover that time too. A Planner asks a Forecaster about a grid of begin
// times between now and the deadline. The answers are the probability trajectory. The plan
// is the cheapest point of the trajectory that has the probability asked for. If there is no
// such point, the Planner refuses, and offers similar requests that can be promised. (The
// options of sbatch for an offer are written by api.Offer.Options.)
//
// Planner.Replan plans a reservation anew while its job is pending.
package trajectory
