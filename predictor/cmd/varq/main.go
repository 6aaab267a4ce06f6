// Command varq shows the users of a Slurm cluster which reservations varqd can promise, which it
// has promised, and how the promised ones ended; see varq(1).
package main

import (
	"os"

	"github.com/varq-project/varq/predictor/cmd/varq/command"
)

func main() { os.Exit(command.Main(os.Args[1:], nil)) }
