// Package score tells how far forecasts of queueing delay are to be believed,
// by what became of them: how often a wait was within a quantile, how often a
// probability came true, and whether a forecaster has drifted from what it was.
//
// All of it is made of sums, by day, forecaster, partition and class, which can be
// kept on disk and added up over any of these. A forecast belongs to the day, in
// UTC, at which its wait began: by the day of the start, the waits of a day would
// depend on how long they were.
package score
