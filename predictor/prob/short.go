package prob

import "math"

// outcomes is how many outcomes the probabilities of forecasts rest on, however many there have
// been: older ones are forgotten. It is the effective size of the sample of the shorter memory of
// package recalibration.
const outcomes = 1000

// Short reports whether a forecast is less than the probability promised by more than forecasts are
// exact to, which is the standard error of a frequency among the outcomes: .016 at .5, .009 at .9,
// and .003 at .99. A promise is made at the latest time that has its probability, so that whatever
// wavers by less would make every other promise seem broken.
func Short(forecast, promised float64) bool {
	return forecast < promised-math.Sqrt(promised*(1-promised)/outcomes)
}
