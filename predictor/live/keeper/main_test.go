package keeper

import (
	"flag"
	"os"
	"testing"
)

// TestMain allows 8 parallel tests, because tests on a real Slurm mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
