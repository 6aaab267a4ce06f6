package options

import (
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// Tasks of arrays are named as squeue writes them. What is not a job id is told.
func TestParseTasks(t *testing.T) {
	jobs, tasks, err := ParseTasks([]string{"4711", "22_6,22_[3-7,9%2],23"})
	if err != nil || !slices.Equal(jobs, []int64{4711, 23}) || !slices.Equal(tasks, []api.ArrayTasks{{Array: 22, Tasks: "6"}, {Array: 22, Tasks: "3-7,9%2"}}) {
		t.Errorf("%v, %v, %v", jobs, tasks, err)
	}
	for _, wrong := range []string{"", "x", "0", "-1", "22_", "22_x", "22_-1", "22_3-7", "22_[]", "22_[7-3]", "22_[3", "22_3]", "_3", "22,", "22_6,x"} {
		if _, _, err := ParseTasks([]string{wrong}); err == nil || !strings.Contains(err.Error(), `" is not a job id`) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
