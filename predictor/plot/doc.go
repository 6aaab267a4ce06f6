// Package plot draws pictures as SVG or PNG: probability trajectories like Figure 4 of the
// VARQ paper, the load and the waits of simulated clusters, the figures of studies, and the
// quality of forecasts. Other packages compute the data.
package plot
