package cli

// Background is the predictor.Options.Background of the commands: it runs each task in a
// goroutine of its own.
func Background(task func()) { go task() }
