// Package forecasterpb is what varqd and a forecaster outside it say to each
// other, generated from forecaster.proto.
package forecasterpb

//go:generate go run ./protogen
