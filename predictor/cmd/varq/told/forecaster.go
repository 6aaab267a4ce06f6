package told

// Believed is the forecaster on whose forecasts promises rest.
const Believed = "blend"
