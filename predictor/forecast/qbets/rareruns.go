package qbets

//go:generate go run ./rarerungen -o rareruns_table.go

// rareRun returns, for each watched quantile, the least length of a run of misses that is
// rare in a stationary series with a lag-1 autocorrelation of rho. It rounds rho up to the
// next one in the table.
func rareRun(rho float64) [len(watched)]int32 {
	row := 0
	for row < len(rareRuns)-1 && rareRuns[row].rho < rho {
		row++
	}
	return rareRuns[row].length
}
