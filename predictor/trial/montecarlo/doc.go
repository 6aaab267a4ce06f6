// Package montecarlo forecasts by what may become of the live queue. It lets a twin of
// the queue live on many times: with run times drawn from those of similar jobs, and
// with jobs to come as they came in past weeks. The waits of a job in all those futures
// are the distribution of its wait.
//
// It is an experiment. Its forecasts are worth less than those of the blend, which uses
// the twin's expected waits as features, and cost far more.
package montecarlo
