package e2e

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/test/site"
)

// licences: of licences that hardly run out, nothing is promised while they have. For others a job
// waits, and is promised what the waits of jobs with like licences tell, beside the jobs that have
// some.
func licences(t *testing.T, s *site.Site) {
	says := func(options, want string) func() bool {
		return func() bool { return strings.Contains(quoteOf(t, s, "6hours", options), want) }
	}
	for options, want := range map[string]string{
		"--licenses=matlab:3": "--licenses=matlab:3: there are 2 of licence matlab",
		"--licenses=pool:65":  "--licenses=pool:65: there are 64 of licence pool",
		"--licenses=matlab:1": "0 jobs with licences like matlab:1 are known to have started in partition main, and a forecast needs 20",
		"--licenses=pool:1":   "Can be promised",
	} {
		if got := quoteOf(t, s, "6hours", options); !strings.Contains(got, want) {
			t.Errorf("%s: %s", options, got)
		}
	}
	mustRun(t, s, "bob", "sbatch", "-p", "main", "-N1", "-n1", "--licenses=pool:64", "-t", "3:00:00", "-J", "pool", "-o/dev/null", "--wrap=exec sleep 1d")
	eventually(t, "while a job has all licences, none is promised", says("--licenses=pool:1", "64 of the 64 of licence pool are in use, and when enough are free cannot be forecast"))
	mustRun(t, s, "root", "scancel", "--name=pool")
	eventually(t, "once they are free again, they are promised", says("--licenses=pool:1", "Can be promised"))
	keptSoon(t, s, "pool", "-p", "main", "-n1", "--licenses=pool:1")

	for range 20 {
		mustRun(t, s, "bob", "sbatch", "-p", "main", "-N1", "-n1", "--licenses=matlab:1", "-t", "5", "-o/dev/null", "--wrap=true")
	}
	eventually(t, "once 20 jobs with such licences have started, they are promised", says("--licenses=matlab:1", "Can be promised"))
	file, _ := script(t, s, "matlab", "", "")
	for range 2 {
		reserve(t, s, "alice", "--begin-by=now+6hours", "--prob=0.5", "--time=30", "-p", "main", "-n1", "--licenses=matlab:1", file)
	}
	if !says("--licenses=matlab:1", "too few of the licences matlab:1, at the deadline")() {
		t.Errorf("of two licences three are promised: %s", quoteOf(t, s, "6hours", "--licenses=matlab:1"))
	}
	mustRun(t, s, "alice", "scancel", "--user=alice", "--name=matlab.sh")
	keptSoon(t, s, "licence", "-p", "main", "-n1", "--licenses=matlab:1")
}
