package options

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/hostlist"
	"github.com/varq-project/varq/predictor/slurm"
)

// ParseJobs reads lists of job ids. A task of an array stands for the array.
func ParseJobs(lists []string) (jobs []int64, err error) {
	for _, list := range lists {
		for _, text := range hostlist.Split(list) {
			array, _, _ := strings.Cut(strings.TrimSpace(text), "_")
			id, ok := parseJob(array)
			if !ok {
				return nil, fmt.Errorf("%q is not a job id", text)
			}
			if !slices.Contains(jobs, id) {
				jobs = append(jobs, id)
			}
		}
	}
	return jobs, nil
}

// ParseTasks reads lists of job ids as squeue writes them: 22 is a job or an array, 22_6 and
// 22_[3-7] are tasks of an array.
func ParseTasks(lists []string) (jobs []int64, tasks []api.ArrayTasks, err error) {
	for _, list := range lists {
		for _, text := range hostlist.Split(list) {
			array, task, isTask := strings.Cut(text, "_")
			id, ok := parseJob(array)
			several := strings.HasPrefix(task, "[") && strings.HasSuffix(task, "]")
			if several {
				task = task[1 : len(task)-1]
			}
			if ok && isTask {
				ok = slurm.IsTasks(task) && (several || !strings.ContainsAny(task, ",-:%"))
			}
			switch {
			case !ok:
				return nil, nil, fmt.Errorf("%q is not a job id", text)
			case isTask:
				tasks = append(tasks, api.ArrayTasks{Array: id, Tasks: task})
			default:
				jobs = append(jobs, id)
			}
		}
	}
	return jobs, tasks, nil
}

func parseJob(text string) (id int64, ok bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0
}
