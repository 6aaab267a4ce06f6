// Package plot draws pictures as SVG or PNG: a probability trajectory, in the
// manner of the VARQ paper's Figure 4; what became of a simulated cluster and its
// users; and how good forecasts were.
package plot
