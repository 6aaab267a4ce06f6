// Package thorough marks the tests that only make test-all runs, and make test leaves out.
package thorough

import (
	"os"
	"testing"
)

// Variable is the environment variable that make test-all sets to 1.
const Variable = "VARQ_TEST_ALL"

// Only skips the test unless all tests are run. make test has twelve minutes: one test of each
// promise to a user stays in it.
func Only(t testing.TB) {
	t.Helper()
	if os.Getenv(Variable) != "1" {
		t.Skip("one of the tests that make test-all runs")
	}
}
