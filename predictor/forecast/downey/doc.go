// Package downey predicts how long the job at the head of a queue waits for a
// number of processors, and lets malleable jobs choose theirs by it: the methods
// of Downey, "Using Queue Time Predictions for Processor Allocation" (UCB/CSD-97-929,
// 1997), and the workload and the machine he tries them on.
//
// Forecast and Correction are for any queue. Model draws jobs, malleable ones and
// ones whose users have settled their sizes; System runs the malleable ones.
package downey
