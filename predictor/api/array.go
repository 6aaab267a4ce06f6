package api

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Array is a job array. The zero Array stands for a job that is none.
type Array struct {
	// Tasks is how many tasks it has, and AtOnce how many of them Slurm lets run at the same time
	// (8 of --array=0-39%8); 0 if as many as there is room for.
	Tasks  int32 `json:"tasks"`
	AtOnce int32 `json:"at_once,omitempty"`
}

// Width returns how many tasks may run at the same time: 1 for a job that is no array.
func (a Array) Width() int32 { return max(1, min(a.Tasks, cmp.Or(a.AtOnce, a.Tasks))) }

// Unpromised returns how many tasks of the array may run beside those that the plan promises. They
// become eligible at the same time, and have nodes until the work may begin, too.
func (p *Plan) Unpromised() int32 {
	if p.Tasks == 0 || p.AtOnce != 0 {
		return 0
	}
	return max(0, p.Array.Width()-p.Tasks)
}

// MostTasks is the greatest number of tasks that one promise is about.
const MostTasks = 10_000

// maxArray is more than the tasks of any array that Slurm allows.
const maxArray = 1 << 23

// array checks an array, and how many of its tasks the promise is to be about, if that is not the
// end of all.
func (c *checker) array(a Array, tasks int32, sizes, ends bool) {
	c.between("array.tasks", int64(a.Tasks), 0, maxArray)
	c.between("array.at_once", int64(a.AtOnce), 0, maxArray)
	c.wrong(tasks < 0, "tasks", "%d is not a number of tasks", tasks)
	c.odd(tasks > 0 && a.Tasks == 0, "tasks", "needs %v: it says how many of its tasks are to run at the same time", Field("array"))
	c.odd(a.Tasks > 0 && sizes, "array", "does not go together with %v: the tasks of an array have one size", Field("sizes"))
	switch promised := cmp.Or(tasks, a.Width()); {
	case a.Tasks <= 0 || tasks < 0:
	case promised > a.Tasks:
		c.wrong(true, "tasks", "%d are more than the array has, which is %d", promised, a.Tasks)
	case promised > a.Width():
		c.wrong(true, "tasks", "%d cannot run at the same time, as the array lets %d run at once (%%%d): ask for as many, or leave out %%%d", promised, a.Width(), a.AtOnce, a.AtOnce)
	case promised > MostTasks && !ends: // see checkEnd
		c.wrong(true, "tasks", "a promise is about at most %d tasks, and these are %d: ask for fewer of them", MostTasks, promised)
	}
}

// ParseTasks reads how many tasks of the array are to run: a number, or a share as 50%, rounded up.
func (a Array) ParseTasks(text string) (int32, error) {
	percent, share := strings.CutSuffix(text, "%")
	n, err := strconv.ParseInt(percent, 10, 32)
	switch {
	case err != nil || n < 1 || share && n > 100:
		return 0, fmt.Errorf("%.40q is neither a number of tasks nor a share of them: 20, or 50%%", text)
	case share:
		n = (n*int64(a.Tasks) + 99) / 100
	}
	return int32(n), nil
}

// OfArray says, part of a sentence, of how many tasks of its array a plan is; "" for a job that is
// none.
func (p *Plan) OfArray() string {
	switch p.Array.Tasks {
	case 0:
		return ""
	case 1:
		return "the only task"
	case p.Tasks:
		return fmt.Sprintf("all %d tasks", p.Tasks)
	}
	return fmt.Sprintf("%d of %d tasks", p.Tasks, p.Array.Tasks)
}

// Subject is OfArray with a blank after it, as the subject of a sentence; "" for a job that is
// none.
func (p *Plan) Subject() string {
	if of := p.OfArray(); of != "" {
		return of + " "
	}
	return ""
}

// OtherTasks says what becomes of those tasks of an array that the plan is not about; "" if there
// are none.
func (p *Plan) OtherTasks() string {
	others := p.Array.Tasks - p.Tasks
	switch {
	case others <= 0:
		return ""
	case p.Tasks == p.Array.Width():
		return fmt.Sprintf("the array lets so many tasks run at once (%d); the other %d follow, and of these nothing is promised", p.Tasks, others)
	}
	return fmt.Sprintf("nothing is promised of the other tasks, which are %d; those that start before the work may hold their nodes, too, and what the reservation costs at most counts them", others)
}
