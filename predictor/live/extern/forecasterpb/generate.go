// Package forecasterpb has the messages between varqd and a site's own forecaster. It is generated
// from forecaster.proto.
package forecasterpb

//go:generate go run ./protogen
