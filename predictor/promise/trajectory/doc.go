// Package trajectory is VARQ itself: it decides when a job has to become
// eligible, and with how long a time limit, so that it runs at a deadline with
// the probability asked for, at the least cost (Nurmi, Wolski and Brevik, VARQ,
// UCSB technical report 2007-09, section 3). It asks a Forecaster about every
// submission between now and the deadline, the probability trajectory, and
// takes the cheapest that is good enough. If there is none, it refuses and
// offers what could be promised instead.
package trajectory
