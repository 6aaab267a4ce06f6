// Package dependency reads what a job waits for: the value of sbatch's --dependency, and the
// dependency of a job in the queue, which is the same but for the state of each condition.
//
//	afterok:17:18,afterany:19_*     all of these
//	afterok:17?after:20+30          any of these
//	afterok:17(failed),singleton(unfulfilled)
package dependency

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is when a job fulfils a condition.
type Kind string

// The kinds of condition. Of an array's tasks all have to fulfil it, but for Corresponding.
const (
	Begun         Kind = "after"      // Delay after it has started or was cancelled
	Ended         Kind = "afterany"   // it has ended
	Succeeded     Kind = "afterok"    // it has ended with exit code 0
	Failed        Kind = "afternotok" // it has ended otherwise
	Corresponding Kind = "aftercorr"  // the task of the same number has ended with exit code 0
	// Singleton is fulfilled once all jobs of the same user and name that were submitted before
	// have ended. It names no job.
	Singleton Kind = "singleton"
	// Buffered is afterburstbuffer: it has ended, and its data are staged out.
	Buffered Kind = "afterburstbuffer"
)

// Condition is one that a job waits for.
type Condition struct {
	Kind Kind
	// Job is the job that is to fulfil it, or of an array its number; 0 for a Singleton.
	Job int64
	// Task is the one task of the array Job that is to, or All of them, or None for a job that is not
	// named as an array.
	Task int32
	// Delay is in seconds; 0 but for Begun.
	Delay int64
	// Never is true if it cannot be fulfilled any more.
	Never bool
}

// The values of a Condition's Task that are not a task.
const (
	None int32 = -1
	All  int32 = -2
)

// Dependency is what a job waits for. The zero value is nothing.
type Dependency struct {
	Conditions []Condition
	// Any says that one of the conditions is enough, and not all are needed.
	Any bool
}

// MostConditions is the greatest number of conditions that Parse reads.
const MostConditions = 10_000

// Parse reads a dependency. The error quotes the part that is wrong. It takes O(len(text)).
func Parse(text string) (d Dependency, err error) {
	if text == "" {
		return d, nil
	}
	d.Any = strings.Contains(text, "?")
	if d.Any && strings.Contains(text, ",") {
		return d, fmt.Errorf("%.60q has conditions of which all are needed (\",\") and of which any is enough (\"?\")", text)
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '?' }) {
		if err := d.add(part); err != nil {
			return Dependency{}, err
		}
	}
	if len(d.Conditions) == 0 {
		return d, fmt.Errorf("%.60q names no condition", text)
	}
	return d, nil
}

// add reads the conditions of one kind.
func (d *Dependency) add(part string) error {
	name, jobs, named := strings.Cut(part, ":")
	name, state, _ := strings.Cut(name, "(")
	kind := Kind(strings.ToLower(name))
	switch {
	case kind == Singleton && !named:
		return d.append(Condition{Kind: kind, Task: None, Never: failed(state)}, part)
	case kind == Begun, kind == Ended, kind == Succeeded, kind == Failed, kind == Corresponding, kind == Buffered:
		if named {
			break
		}
		fallthrough
	case named && strings.Trim(name, "0123456789") == "", strings.Trim(part, "0123456789:") == "":
		return fmt.Errorf("%.60q says not when of which job: it is like afterok:17", part)
	default:
		return fmt.Errorf("%.60q is not a condition that Slurm knows: it is like afterok:17", part)
	}
	for one := range strings.SplitSeq(jobs, ":") {
		id, state, _ := strings.Cut(one, "(")
		c, err := conditionOf(kind, id)
		if err != nil {
			return err
		}
		c.Never = failed(state)
		if err := d.append(c, part); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dependency) append(c Condition, part string) error {
	if len(d.Conditions) == MostConditions {
		return fmt.Errorf("%.60q is one of more than %d conditions", part, MostConditions)
	}
	d.Conditions = append(d.Conditions, c)
	return nil
}

// failed reports whether the state of a condition, without its opening bracket, is that it cannot
// be fulfilled.
func failed(state string) bool { return strings.TrimSuffix(state, ")") == "failed" }

// conditionOf reads "17", "17_4", "17_*" and, of Begun, "17+30".
func conditionOf(kind Kind, id string) (Condition, error) {
	c := Condition{Kind: kind, Task: None}
	wrong := fmt.Errorf("%.40q is not a job", id)
	if job, minutes, ok := strings.Cut(id, "+"); ok {
		n, err := strconv.ParseInt(minutes, 10, 31)
		if kind != Begun || err != nil || n < 0 {
			return c, wrong
		}
		id, c.Delay = job, n*60
	}
	job, task, ok := strings.Cut(id, "_")
	if ok && task == "*" {
		c.Task = All
	} else if ok {
		n, err := strconv.ParseInt(task, 10, 32)
		if err != nil || n < 0 {
			return c, wrong
		}
		c.Task = int32(n)
	}
	n, err := strconv.ParseInt(job, 10, 64)
	if err != nil || n <= 0 {
		return c, wrong
	}
	c.Job = n
	return c, nil
}

// Never reports whether the dependency cannot come true any more.
func (d *Dependency) Never() bool {
	for _, c := range d.Conditions {
		if c.Never != d.Any {
			return c.Never
		}
	}
	return d.Any && len(d.Conditions) > 0
}

// Nameless is what is wrong with a dependency with a Singleton of a job without a name.
const Nameless = "singleton waits for jobs of the same name: name the job with --job-name"

// Singleton reports whether one of the conditions is a Singleton.
func (d *Dependency) Singleton() bool {
	return slices.ContainsFunc(d.Conditions, func(c Condition) bool { return c.Kind == Singleton })
}

// NeverFulfilled reports whether what a text says cannot come true any more. It is false if the
// text cannot be read.
func NeverFulfilled(text string) bool {
	d, err := Parse(text)
	return err == nil && d.Never()
}

// String writes the dependency as sbatch reads it.
func (d *Dependency) String() string {
	var s strings.Builder
	for i, c := range d.Conditions {
		if i > 0 {
			s.WriteString(map[bool]string{true: "?", false: ","}[d.Any])
		}
		s.WriteString(cmp.Or(string(c.Kind), "after"))
		if c.Kind == Singleton {
			continue
		}
		fmt.Fprintf(&s, ":%d", c.Job)
		switch {
		case c.Task == All:
			s.WriteString("_*")
		case c.Task != None:
			fmt.Fprintf(&s, "_%d", c.Task)
		}
		if c.Delay != 0 {
			fmt.Fprintf(&s, "+%d", c.Delay/60)
		}
	}
	return s.String()
}

// Narrows reports whether what one text says is what another says or, as jobs do what a job waits
// for, less: each of its conditions is one of the other's. The states of conditions do not count.
// It is false if either cannot be read.
func Narrows(is, was string) bool {
	now, err := Parse(is)
	before, err2 := Parse(was)
	if err != nil || err2 != nil || now.Any != before.Any && len(now.Conditions) > 0 && len(before.Conditions) > 1 {
		return false
	}
	of := make(map[Condition]bool, len(before.Conditions))
	for _, c := range before.Conditions {
		of[c.stateless()] = true
	}
	for _, c := range now.Conditions {
		if !of[c.stateless()] {
			return false
		}
	}
	return true
}

// stateless returns the condition, whatever has become of it. Slurm writes an array's number with
// "_*" and without.
func (c Condition) stateless() Condition {
	c.Never = false
	if c.Task == All {
		c.Task = None
	}
	return c
}
