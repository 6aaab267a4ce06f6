package twin

import (
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// TestLicensees: licences are free beside the jobs that run with some, and beside claims. A job is
// not in its own way, and has no more than it asks for.
func TestLicensees(t *testing.T) {
	b := rooms()
	const total = 3
	runs := *request(1, 1000)
	runs.Licences = "ansys:1,matlab:2"
	j := b.start(opening-100, b.submitAt(opening-100, &runs))
	j.Given = 8
	b.q.Change(&j)
	b.w.Changed(&j)
	ask := func(licences workload.Licences, job, at int64, claims ...workload.Claim) float64 {
		c := claim(64, at)
		c.Licences, c.Nodes, c.Job = licences, 64, job
		return b.w.Licensees("matlab", total, job, opening, claims).RoomLicensed(&c, "matlab", 0).Prob
	}
	claimed := func(licences workload.Licences, from int64) workload.Claim {
		c := claim(1, from)
		c.Licences = licences
		return c
	}
	running := claimed("matlab:2", opening-100)
	running.Job, running.Runs, running.Limit = j.ID, true, 1000
	fewer := running
	fewer.Licences = "matlab:1"
	for _, c := range []struct {
		of       string
		got      float64
		from, to float64
	}{
		{"one beside a job with two", ask("matlab:1", 0, opening), 1, 1},
		{"two beside it", ask("matlab:2", 0, opening), 0, .1},
		{"two when it may have ended", ask("matlab:2", 0, opening+500), .1, .99},
		{"two after its limit", ask("matlab:2", 0, opening+1000), 1, 1},
		{"three for the job itself", ask("matlab:3", j.ID, opening), 1, 1},
		{"four", ask("matlab:4", 0, opening+1000), 0, 0},
		{"other licences", ask("ansys:9", 0, opening), 1, 1},
		{"none", ask("", 0, opening), 1, 1},
		{"one beside a claim of another", ask("matlab:1", 0, opening, claimed("matlab:1", opening)), 0, .1},
		{"one beside a claim of other licences", ask("matlab:1", 0, opening, claimed("ansys:1", opening)), 1, 1},
		{"one before the claim", ask("matlab:1", 0, opening, claimed("matlab:1", opening+run)), 1, 1},
		{"one beside the claim of the job that runs", ask("matlab:1", 0, opening, running), 1, 1},
		{"one beside its claim of fewer than it has", ask("matlab:2", 0, opening, fewer), 0, .1},
		{"two beside the claim of the job that runs", ask("matlab:2", 0, opening, running), 0, .1},
	} {
		if c.got < c.from || c.got > c.to {
			t.Errorf("%s: %.3f", c.of, c.got)
		}
	}
}
