// Package montecarlo forecasts waits by simulating many futures of the live queue. A future
// draws the run times of the jobs from those of similar jobs, and the jobs that arrive
// later from the arrivals of past weeks. The forecast is the distribution of a job's wait
// over the futures.
//
// The package is an experiment. Its forecasts are worse than those of the blend, which
// uses the twin's expected waits as features, and take far longer.
package montecarlo
