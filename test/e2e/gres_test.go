package e2e

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/test/site"
)

// gresTypes: a job that asks for a type of GPU waits behind jobs for that type, and behind no
// others.
func gresTypes(t *testing.T, s *site.Site) {
	for _, c := range []struct{ options, says string }{
		{"-p a100 --gres=gpu:v100:1", "--gres=gpu:v100:1: 0 of the 4 nodes of partition a100 have 1 gpu:v100, and the job needs 1"},
		{"-p a100 --gres=gpu:h100:1", "--gres=gpu:h100:1: 0 of the 4 nodes of partition a100 have 1 gpu:h100, and the job needs 1"},
		{"-p v100 --gres=gpu:v100:2", "--gres=gpu:v100:2: 0 of the 4 nodes of partition v100 have 2 gpu:v100, and the job needs 1"},
		{"-p v100 --gpus=v100:5", "--gpus=v100:5: the nodes of partition v100 that the job may have, have 4 gpu:v100"},
	} {
		if got := quoteOf(t, s, "6hours", strings.Fields(c.options)...); !strings.Contains(got, c.says) {
			t.Errorf("%s: %s", c.options, got)
		}
	}
	mustRun(t, s, "bob", "bash", "-c", "for i in {1..6}; do sbatch --exclusive -N1 -p a100 --gres=gpu:a100:1 -t 3:00:00 -J a100 -o/dev/null --wrap='exec sleep 1d'; done")
	eventually(t, "behind jobs of hours nothing is promised for within minutes", func() bool {
		return strings.Contains(quoteOf(t, s, "20minutes", "-p", "a100", "--gres=gpu:a100:1"), "too little room")
	})
	if got := quoteOf(t, s, "12hours", "-p", "a100", "--gres=gpu:a100:1"); !strings.Contains(got, "Can be promised") {
		t.Errorf("for when they have ended: %s", got)
	}
	keptSoon(t, s, "v100", "-p", "v100", "--gres=gpu:v100:1")
	// the same where one partition has both
	if got := quoteOf(t, s, "20minutes", "-p", "main", "--gres=gpu:a100:1"); !strings.Contains(got, "too little room") {
		t.Errorf("beside jobs of hours on all nodes with the type: %s", got)
	}
	if got := quoteOf(t, s, "12hours", "-p", "main", "--gres=gpu:a100:1"); !strings.Contains(got, "Can be promised") {
		t.Errorf("for when these have ended: %s", got)
	}
	keptSoon(t, s, "mixed", "-p", "main", "--gres=gpu:v100:1")
	keptSoon(t, s, "several", "-p", "a100,v100", "--gpus=1")
	mustRun(t, s, "root", "scancel", "--name=a100")
}
