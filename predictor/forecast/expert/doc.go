// Package expert has the forecasters that a blend is made of. QBETS forecasts from the past
// waits of a class of jobs; Forest from similar situations and from what a twin of the
// queue expects; Ahead from similar situations, before the submission; Downey from the
// lifetimes of the running jobs. Each turns the result of a method's package into an Answer. What
// becomes known of the cluster itself, and not of its jobs, is News.
package expert
