// Package downey predicts how long the job at the head of a queue waits for a number of processors,
// and lets malleable jobs choose their numbers of processors by this prediction. The methods are
// those of Downey, "Using Queue Time Predictions for Processor Allocation" (UCB/CSD-97-929, 1997).
// The package also has the paper's workload and machine.
//
// Forecast and Correction apply to any queue. Model draws jobs: malleable ones, and ones whose
// sizes are fixed by their users. System runs the malleable ones.
package downey
