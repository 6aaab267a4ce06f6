package e2e

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/test/site"
)

// licences: where licences may run out, nothing is promised; nor where they have.
func licences(t *testing.T, s *site.Site) {
	for _, c := range []struct{ options, says string }{
		{"--licenses=matlab:3", "--licenses=matlab:3: there are 2 of licence matlab"},
		{"--licenses=pool:65", "--licenses=pool:65: there are 64 of licence pool"},
		{"--licenses=matlab:1", "--licenses=matlab:1: when 1 of the 2 of licence matlab are free cannot be forecast"},
		{"--licenses=pool:1", "Can be promised"},
	} {
		if got := quoteOf(t, s, "6hours", c.options); !strings.Contains(got, c.says) {
			t.Errorf("%s: %s", c.options, got)
		}
	}
	mustRun(t, s, "bob", "sbatch", "-p", "main", "-N1", "-n1", "--licenses=pool:64", "-t", "3:00:00", "-J", "pool", "-o/dev/null", "--wrap=exec sleep 1d")
	eventually(t, "while a job has all licences, none is promised", func() bool {
		return strings.Contains(quoteOf(t, s, "6hours", "--licenses=pool:1"), "64 of the 64 of licence pool are in use, and when enough are free cannot be forecast")
	})
	mustRun(t, s, "root", "scancel", "--name=pool")
	eventually(t, "once they are free again, they are promised", func() bool {
		return strings.Contains(quoteOf(t, s, "6hours", "--licenses=pool:1"), "Can be promised")
	})
	keptSoon(t, s, "licence", "-p", "main", "-n1", "--licenses=pool:1")
}
