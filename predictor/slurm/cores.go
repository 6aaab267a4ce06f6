package slurm

import "github.com/varq-project/varq/predictor/hostlist"

// CountCores counts the cores in Slurm's list of their numbers, such as "0-2,5". The error says
// what is wrong with the list.
func CountCores(ids string) (int64, error) {
	cores, err := hostlist.Expand("[" + ids + "]")
	return int64(len(cores)), err
}
