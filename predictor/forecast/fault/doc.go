// Package fault forecasts failures of nodes: how probable it is that one of a set of nodes fails
// within a window. It learns from nothing but events on nodes, failures and others, as they happen.
//
// Five parts make a forecast, for each of a few horizons:
//
//	features     what is known of a node, each part as the number of failures that it would make
//	             likely: how often it failed (a gamma-Poisson model, with the nodes' common prior),
//	             its age since its last failure (Weibull), and which events preceded, on the node,
//	             near it and anywhere
//	weights      how many failures each feature really accounted for: again gamma-Poisson, all
//	             together by expectation maximisation
//	vote         the weighted features have as much of a say as they have deserved, beside three
//	             plainer models
//	level        the forecast is raised or lowered as failures of late were more or fewer than
//	             expected
//	set          failures cluster: one event takes several nodes, so that the risk of a set is
//	             less than the sum of its nodes' risks
//
// The Bayesian part of Sahoo et al. 2003, on which Oliner et al. 2005 build, correlates preceding
// events with failures in the same spirit, but gives alarms. Risks here are probabilities, to be
// judged by how often they come true.
package fault
