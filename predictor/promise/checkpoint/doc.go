// Package checkpoint advises an application whether to checkpoint: cooperative checkpointing, as
// Oliner, Sahoo, Moreira, Gupta and Sivasubramaniam have it ("Probabilistic QoS Guarantees for
// Supercomputing Systems", 2005, section 3.4). The application asks at every request, and
// checkpoints or goes on working. What the last checkpoint does not have is lost when one of the
// job's nodes fails.
//
// Advise looks ahead, over the risk that is predicted and the time that the job has. The other
// Rules are known ones to compare it with: the paper's equation 1, the intervals of Young and Daly,
// what the library SCR can be set to, and a rule that weighs one interval.
//
// All times are seconds.
package checkpoint
