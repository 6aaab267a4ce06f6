package quote

import "testing"

func TestInWords(t *testing.T) {
	for policy, want := range map[string]string{
		"priorities with EASY backfilling":       "in the order of Slurm's priorities, with backfilling",
		"FCFS without backfilling":               "in the order of submission, without backfilling",
		"least work first with EASY backfilling": "least work first, with backfilling",
		"a lottery":                              "as a lottery",
	} {
		if got := inWords(policy); got != want {
			t.Errorf("%s: %q, want %q", policy, got, want)
		}
	}
}
