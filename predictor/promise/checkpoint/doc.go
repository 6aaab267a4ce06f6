// Package checkpoint advises an application whether to checkpoint. This is cooperative
// checkpointing, by Oliner, Sahoo, Moreira, Gupta and Sivasubramaniam ("Probabilistic QoS
// Guarantees for Supercomputing Systems", 2005, section 3.4). At every checkpoint request the
// application asks, and then checkpoints or goes on working. When one of the job's nodes fails, the
// work since the last checkpoint is lost.
//
// Advise looks ahead, over the predicted risk and the time that the job has. The other Rules are
// known rules to compare Advise with: the paper's equation 1, the intervals of Young and Daly, the
// settings of the library SCR, and a rule that weighs one interval.
//
// All times are seconds.
package checkpoint
