// Package scripts measures how many of the job scripts that people have written get a promise: a
// corpus of their options goes through the submit filter and the limits of clusters of three kinds.
// Its clusters are made up, one for each script, with what that names: partitions, features, types
// of GPUs, accounts. So it says what varq can promise at all, and not what a site would allow.
package scripts
