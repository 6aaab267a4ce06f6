// Package fault forecasts failures of nodes: the probability that at least one of a set of nodes
// fails within a window. It learns only from events on nodes, failures and others, as they happen.
//
// For each of a few horizons, five parts make a forecast:
//
//	features     what is known of a node, each feature as the number of failures that it alone
//	             predicts: how often the node failed (a gamma-Poisson model, whose prior all
//	             nodes share), its age since its last failure (Weibull), and which events came
//	             before, on the node, near it and anywhere
//	weights      how many failures each feature really accounted for: again a gamma-Poisson
//	             model, fitted for all features together by expectation maximisation
//	vote         the weighted sum of the features votes beside three simpler models; the
//	             better the past forecasts of a voter were, the more its vote counts
//	level        the forecast is raised if there were more failures lately than expected, and
//	             lowered if there were fewer
//	set          failures cluster: one event hits several nodes, so that the risk of a set is
//	             less than the sum of its nodes' risks
//
// The Bayesian part of Sahoo et al. 2003, on which Oliner et al. 2005 build, also correlates
// preceding events with failures. But it gives alarms. Risks here are probabilities, and are judged
// by how often they come true.
package fault
