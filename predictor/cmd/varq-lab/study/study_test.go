package study

import (
	"os"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cmd/varq-lab/cases"
)

// TestTask: the command of the tasks has every option that affects the outcomes.
func TestTask(t *testing.T) {
	folder, err := cases.Open(t.TempDir()+"/it's here", cases.Setting{})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := &flags{quick: true, seeds: 7, failures: "/my failures.csv"}
	got := f.task("smith", "/my logs", folder)
	if !strings.HasPrefix(got, self+" study smith --out='/") {
		t.Errorf("the task is %s", got)
	}
	for _, want := range []string{`/it'\''s here'`, " --traces='/my logs'", " --failures='/my failures.csv'", " --seeds=7", " --quick"} {
		if !strings.Contains(got, want) {
			t.Errorf("the task is %s, without %s", got, want)
		}
	}
	if got := (&flags{}).task("downey", "", folder); strings.Contains(got, "--traces") || strings.Contains(got, "--seeds") || strings.Contains(got, "--quick") {
		t.Errorf("the task is %s", got)
	}
}
