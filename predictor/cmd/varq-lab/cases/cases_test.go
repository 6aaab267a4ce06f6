package cases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cmd/varq-lab/progress"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/trial/study"
)

// toy is a study that counts its runs. The value of a case is twice its seed. Cases named
// "bad" fail.
type toy struct {
	mu   sync.Mutex
	runs int
	stop func() // called by each run
}

func (*toy) Cases(o study.Options) []study.Case {
	var cases []study.Case
	for seed := range max(1, o.Seeds) {
		cases = append(cases, study.Case{Name: "a / b=1", Seed: uint64(seed)}, study.Case{Name: "other", Seed: uint64(seed)})
	}
	return cases
}

func (s *toy) Run(_ study.Options, c study.Case) (study.Values, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	if s.stop != nil {
		s.stop()
	}
	if c.Name == "bad" {
		return nil, fmt.Errorf("no log of that name")
	}
	return study.Values{"twice": 2 * float64(c.Seed)}, nil
}

func (*toy) Report(study.Options, []study.Outcome) study.Report { return study.Report{} }

func newRun(s study.Study, f *Folder) *Run {
	return &Run{Study: s, Folder: f, Progress: progress.New(&bytes.Buffer{}, func() time.Duration { return 0 })}
}

func open(t *testing.T, dir string, s Setting) *Folder {
	t.Helper()
	f, err := Open(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLocal(t *testing.T) {
	s := &toy{}
	cases := s.Cases(study.Options{Seeds: 20})
	got, err := newRun(s, nil).Local(t.Context(), cases)
	if err != nil {
		t.Fatal(err)
	}
	var want []study.Outcome
	for _, c := range cases {
		want = append(want, study.Outcome{Case: c, Values: study.Values{"twice": 2 * float64(c.Seed)}})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestResume(t *testing.T) {
	s := &toy{}
	dir := filepath.Join(t.TempDir(), "new", "out")
	setting := Setting{Version: "1", Study: "toy"}
	first, err := newRun(s, open(t, dir, setting)).Local(t.Context(), s.Cases(study.Options{Seeds: 3}))
	if err != nil || s.runs != 6 {
		t.Fatalf("%d runs, %v", s.runs, err)
	}
	// More seeds of the same study: only they are run.
	got, err := newRun(s, open(t, dir, setting)).Local(t.Context(), s.Cases(study.Options{Seeds: 4}))
	if err != nil || s.runs != 8 {
		t.Fatalf("%d runs, %v", s.runs, err)
	}
	if diff := cmp.Diff(first, got[:6]); diff != "" {
		t.Error(diff)
	}
	if _, err := Open(dir, Setting{Version: "1", Study: "toy", Quick: true}); err == nil ||
		!strings.Contains(err.Error(), "toy by varq 1, and not toy --quick by varq 1") {
		t.Errorf("opened with another setting: %v", err)
	}
}

func TestDamagedFolder(t *testing.T) {
	s := &toy{}
	cases := s.Cases(study.Options{Seeds: 2})
	for name, damage := range map[string]string{
		"no JSON":        `{"name":`,
		"another case":   `{"name": "x", "seed": 0, "values": {}}`,
		"another seed":   `{"name": "a / b=1", "seed": 1, "values": {}}`,
		"no values":      `{"name": "a / b=1", "seed": 0}`,
		"another number": `{"name": "a / b=1", "seed": 0, "values": {"twice": "0"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, t.TempDir(), Setting{})
			file := f.Path("cases", "a___b=1_seed0.json")
			if err := os.WriteFile(file, []byte(damage), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := newRun(s, f).Local(t.Context(), cases); err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	s := &toy{}
	s.stop = func() {
		if s.runs == 5 {
			stop()
		}
	}
	f := open(t, t.TempDir(), Setting{})
	_, err := newRun(s, f).Local(ctx, s.Cases(study.Options{Seeds: 100}))
	if !errors.Is(err, cli.ErrInterrupted) || !strings.Contains(err.Error(), "the same command goes on") {
		t.Errorf("error %v", err)
	}
	again := &toy{}
	got, err := newRun(again, f).Local(t.Context(), again.Cases(study.Options{Seeds: 100}))
	if err != nil || len(got) != 200 || again.runs == 200 {
		t.Errorf("going on: %d outcomes after %d runs, %v", len(got), again.runs, err)
	}
}

func TestFailures(t *testing.T) {
	cases := []study.Case{{Name: "good"}, {Name: "bad"}, {Name: "good", Seed: 1}, {Name: "bad", Seed: 1}, {Name: "bad", Seed: 2}}
	got, err := newRun(&toy{}, nil).Local(t.Context(), cases)
	var failures Failures
	if !errors.As(err, &failures) || len(failures) != 3 || len(got) != 2 {
		t.Fatalf("%d outcomes, %v", len(got), err)
	}
	if want := "case bad, seed 0: no log of that name; and so 2 more, to bad, seed 2"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	var many Failures
	for i := range 15 {
		many = append(many, Failure{study.Case{Name: "c", Seed: uint64(i)}, fmt.Errorf("reason %d", i)})
	}
	if lines := strings.Split(many.Error(), "\n"); len(lines) != 11 || lines[10] != "and for 5 other reasons" {
		t.Errorf("%q", lines)
	}
}

func TestParts(t *testing.T) {
	cases := (&toy{}).Cases(study.Options{Seeds: 5})
	var all []study.Case
	for first := range 4 {
		all = append(all, Part{first, 4}.Choose(cases)...)
	}
	for _, c := range cases {
		if !slices.Contains(all, c) {
			t.Errorf("%v is in no part", c)
		}
	}
	if len(all) != len(cases) {
		t.Errorf("%d cases in the parts of %d", len(all), len(cases))
	}
	if got, err := ParsePart("3/4"); err != nil || got != (Part{3, 4}) {
		t.Errorf("3/4 is read as %v, %v", got, err)
	}
	for _, text := range []string{"", "4/4", "-1/4", "1", "1/2/3", "a/b", "0/0", "1/4 ", "1/4\n"} {
		if got, err := ParsePart(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func FuzzParsePart(f *testing.F) {
	f.Add("3/4")
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := ParsePart(text); err == nil && (p.First < 0 || p.First >= p.Of) {
			t.Errorf("%q is read as %v", text, p)
		}
	})
}
