package dependency

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What slurmrestd of Slurm 22.05 says of jobs, and what users write.
func TestParse(t *testing.T) {
	job := func(kind Kind, id int64) Condition { return Condition{Kind: kind, Job: id, Task: None} }
	never := func(c Condition) Condition { c.Never = true; return c }
	task := func(c Condition, task int32) Condition { c.Task = task; return c }
	for text, want := range map[string]Dependency{
		"":                                         {},
		"afterok:1(unfulfilled)":                   {Conditions: []Condition{job(Succeeded, 1)}},
		"afterok:17:18,AfterAny:19":                {Conditions: []Condition{job(Succeeded, 17), job(Succeeded, 18), job(Ended, 19)}},
		"after:1+2(unfulfilled)":                   {Conditions: []Condition{{Kind: Begun, Job: 1, Task: None, Delay: 120}}},
		"aftercorr:2_*(unfulfilled)":               {Conditions: []Condition{task(job(Corresponding, 2), All)}},
		"afterok:2_2(unfulfilled)":                 {Conditions: []Condition{task(job(Succeeded, 2), 2)}},
		"singleton(unfulfilled)":                   {Conditions: []Condition{{Kind: Singleton, Task: None}}},
		"afternotok:3,singleton":                   {Conditions: []Condition{job(Failed, 3), {Kind: Singleton, Task: None}}},
		"afterok:1(failed),singleton(unfulfilled)": {Conditions: []Condition{never(job(Succeeded, 1)), {Kind: Singleton, Task: None}}},
		"afterok:1(failed)?afterany:2_*(unfulfilled)": {
			Any: true, Conditions: []Condition{never(job(Succeeded, 1)), task(job(Ended, 2), All)},
		},
	} {
		got, err := Parse(text)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %s", text, err, cmp.Diff(want, got))
		}
	}
	for text, want := range map[string]string{
		"afterok":       `"afterok" says not when of which job`,
		"17":            `"17" says not when of which job`,
		"17:18":         `"17:18" says not when of which job`,
		"expand:1":      `"expand:1" is not a condition that Slurm knows`,
		"afterok:x":     `"x" is not a job`,
		"afterok:":      `"" is not a job`,
		"afterok:0":     `"0" is not a job`,
		"afterok:1+5":   `"1+5" is not a job`,
		"after:1+-5":    `"1+-5" is not a job`,
		"afterok:1_-1":  `"1_-1" is not a job`,
		"afterok:1,a?b": `of which all are needed`,
		",":             `names no condition`,
		"singleton:3":   `is not a condition`,
		strings.Repeat("afterok:1,", MostConditions+1): "more than 10000 conditions",
	} {
		if d, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, %v", text, d, err)
		}
	}
}

func TestNever(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "afterok:1": false, "afterok:1(failed)": true, "afterok:1(unfulfilled),afterok:2(failed)": true,
		"afterok:1(failed)?afterok:2(unfulfilled)": false, "afterok:1(failed)?afterok:2(failed)": true,
	} {
		if d, err := Parse(text); err != nil || d.Never() != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
}

// What is read is written so that it is read as the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"afterok:17:18,afterany:19_*", "after:1+2?singleton", "afterok:1(failed)", "aftercorr:2_3(unfulfilled)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(d.String())
		for i := range d.Conditions {
			d.Conditions[i].Never = false
		}
		if len(d.Conditions) < 2 {
			d.Any, again.Any = false, false
		}
		if err != nil || !cmp.Equal(d, again) {
			t.Errorf("%q: %+v, %q: %+v, %v", text, d, d.String(), again, err)
		}
	})
}

func TestNarrows(t *testing.T) {
	for _, c := range []struct {
		is, was string
		want    bool
	}{
		{"", "", true}, {"", "afterok:1", true}, {"afterok:1(unfulfilled)", "afterok:1", true}, {"afterok:1(failed)", "afterok:1", true},
		{"afterok:2(unfulfilled)", "afterok:1:2", true}, {"afterok:2_*(unfulfilled)", "afterok:2", true}, {"singleton(unfulfilled)", "afterok:1,singleton", true},
		{"after:1+2(unfulfilled)", "after:1+2", true}, {"afterok:1", "", false}, {"afterok:3", "afterok:1:2", false}, {"afterany:1", "afterok:1", false},
		{"after:1+3", "after:1+2", false}, {"afterok:2_1", "afterok:2", false}, {"afterok:1?afterok:2", "afterok:1,afterok:2", false}, {"nonsense", "nonsense", false},
	} {
		if got := Narrows(c.is, c.was); got != c.want {
			t.Errorf("%q, and was %q: %v", c.is, c.was, got)
		}
	}
}
