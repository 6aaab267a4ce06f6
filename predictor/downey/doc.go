// Package downey predicts how long the job at the head of a queue waits for a
// number of processors, and lets malleable jobs choose theirs by it: the methods
// of Downey, "Using Queue Time Predictions for Processor Allocation" (UCB/CSD-97-929,
// 1997), and the workload he tries them on.
package downey
