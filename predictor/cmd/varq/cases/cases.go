// Package cases runs the cases of a study, several at a time on this machine or
// as a job array on a Slurm cluster, and keeps what each of them found in a
// folder, so that nothing has to be simulated twice.
package cases

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cmd/varq/progress"
	"github.com/varq-project/varq/predictor/trial/study"
)

// Run is a study that is being run.
type Run struct {
	Study    study.Study
	Options  study.Options
	Folder   *Folder // where outcomes are kept; nil: nowhere
	Progress *progress.Meter
}

// Failure is a case that has no outcome.
type Failure struct {
	Case study.Case
	Err  error
}

// Error names the case.
func (f Failure) Error() string {
	return fmt.Sprintf("case %s, seed %d: %v", f.Case.Name, f.Case.Seed, f.Err)
}

// Failures are all cases of a run that have no outcome.
type Failures []Failure

// mostNamed is how many failures are told one by one.
const mostNamed = 10

// Error names the cases, and says only once what many of them failed of.
func (f Failures) Error() string {
	var causes []string
	by := map[string]Failures{}
	for _, failure := range f {
		cause := failure.Err.Error()
		if by[cause] == nil {
			causes = append(causes, cause)
		}
		by[cause] = append(by[cause], failure)
	}
	var lines []string
	for i, cause := range causes {
		if i == mostNamed {
			lines = append(lines, fmt.Sprintf("and for %d other reasons", len(causes)-i))
			break
		}
		same := by[cause]
		line := same[0].Error()
		if len(same) > 1 {
			line = fmt.Sprintf("%s; and so %d more, to %s, seed %d", line, len(same)-1, same[len(same)-1].Case.Name, same[len(same)-1].Case.Seed)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the causes.
func (f Failures) Unwrap() []error {
	errs := make([]error, len(f))
	for i := range f {
		errs[i] = f[i].Err
	}
	return errs
}

// ErrInterrupted is returned for a run that was not let end.
var ErrInterrupted = errors.New("interrupted")

// Local runs the cases side by side on this machine, as many as Go has
// processors, but for those whose outcomes the folder has. It returns all
// outcomes in the order of the cases, and Failures if some are missing. When ctx
// ends it returns ErrInterrupted at once: what was running is abandoned, what was
// finished is in the folder.
func (r *Run) Local(ctx context.Context, cases []study.Case) ([]study.Outcome, error) {
	g := newGathering(r, cases)
	todo, err := g.load()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := make(chan int, len(todo))
	for _, i := range todo {
		next <- i
	}
	close(next)
	type result struct {
		i      int
		values study.Values
		err    error
	}
	results := make(chan result)
	for range min(runtime.GOMAXPROCS(0), len(todo)) {
		go func() {
			for i := range next {
				values, err := r.Study.Run(r.Options, cases[i])
				select {
				case results <- result{i, values, err}:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	for range todo {
		select {
		case <-ctx.Done():
			return nil, g.interrupted()
		case done := <-results:
			if done.err == nil {
				done.err = g.keep(done.i, done.values)
			}
			if done.err != nil {
				g.fail(done.i, done.err)
			}
		}
	}
	return g.outcomes()
}

// gathering is what is known of the outcomes of some cases.
type gathering struct {
	run      *Run
	cases    []study.Case
	values   []study.Values // nil: not known yet
	failures map[int]error
	done     int
}

func newGathering(r *Run, cases []study.Case) *gathering {
	return &gathering{run: r, cases: cases, values: make([]study.Values, len(cases)), failures: map[int]error{}}
}

// load takes what the folder has got, and returns the indices of the other
// cases.
func (g *gathering) load() (missing []int, err error) {
	for i, c := range g.cases {
		if g.values[i] != nil {
			continue
		}
		if g.run.Folder != nil {
			if g.values[i], err = g.run.Folder.load(c); err != nil {
				return nil, err
			}
		}
		if g.values[i] == nil {
			missing = append(missing, i)
		} else {
			g.done++
		}
	}
	g.show()
	return missing, nil
}

// keep takes a case's outcome, and puts it into the folder.
func (g *gathering) keep(i int, v study.Values) error {
	if g.run.Folder != nil {
		if err := g.run.Folder.save(study.Outcome{Case: g.cases[i], Values: v}); err != nil {
			return err
		}
	}
	g.values[i] = v
	g.done++
	g.show()
	return nil
}

func (g *gathering) fail(i int, err error) { g.failures[i] = err }

func (g *gathering) show() {
	if len(g.cases) > 0 {
		g.run.Progress.Show(float64(g.done)/float64(len(g.cases)), fmt.Sprintf("%d of %d cases", g.done, len(g.cases)))
	}
}

func (g *gathering) interrupted() error {
	kept := "nothing of it is kept without --out"
	if g.run.Folder != nil {
		kept = "the same command goes on from there"
	}
	return fmt.Errorf("%w with %d of %d cases done; %s", ErrInterrupted, g.done, len(g.cases), kept)
}

func (g *gathering) outcomes() ([]study.Outcome, error) {
	var outcomes []study.Outcome
	var failures Failures
	for i, c := range g.cases {
		switch err := g.failures[i]; {
		case err != nil:
			failures = append(failures, Failure{c, err})
		default:
			outcomes = append(outcomes, study.Outcome{Case: c, Values: g.values[i]})
		}
	}
	if failures != nil {
		return outcomes, failures
	}
	return outcomes, nil
}

// Part is a share of a study's cases: every Of-th from the First on, 0 being the
// first of all.
type Part struct{ First, Of int }

// ParsePart reads "FIRST/OF".
func ParsePart(text string) (Part, error) {
	first, of, _ := strings.Cut(text, "/")
	p := Part{}
	var err, errOf error
	p.First, err = strconv.Atoi(first)
	p.Of, errOf = strconv.Atoi(of)
	if err != nil || errOf != nil || p.First < 0 || p.First >= p.Of {
		return Part{}, fmt.Errorf("%.40q is not FIRST/OF, such as 0/4 to 3/4", text)
	}
	return p, nil
}

// Choose returns the cases that belong to the part.
func (p Part) Choose(cases []study.Case) []study.Case {
	var chosen []study.Case
	for i := p.First; i < len(cases); i += p.Of {
		chosen = append(chosen, cases[i])
	}
	return chosen
}
