// Package plot draws pictures as SVG or PNG: probability trajectories in the manner of the
// VARQ paper's Figure 4, the load and the waits of simulated clusters, the figures of
// studies, and the quality of forecasts. It computes nothing: the data come from other
// packages.
package plot
