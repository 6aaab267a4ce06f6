package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// promising are the options of a promise.
type promising struct {
	finishBy, prob string
	quote          bool

	by          int64 // Unix seconds, or 0
	probability float64
}

// isFile reports whether an argument names a file.
func isFile(arg string) bool {
	suffix := filepath.Ext(arg)
	return arg == "-" || suffix == ".yaml" || suffix == ".yml"
}

// isID reports whether an argument is the ID of a promised flow, and no job's number.
func isID(arg string) bool { return api.ValidPlanID(arg) && strings.Trim(arg, "0123456789") != "" }

// none returns an error if an option of a promise is given.
func (p *promising) none() error {
	if *p != (promising{}) {
		return errors.New("name the jobs of the flow, or a file with jobs: varq flow 4711 --finish-by=17:00")
	}
	return nil
}

// read reads the options. The error names one.
func (p *promising) read(env *cli.Env, file bool) (err error) {
	if p.by, err = env.Deadline("--finish-by", p.finishBy); err != nil {
		return err
	}
	switch {
	case p.by == 0 && (p.prob != "" || p.quote):
		return errors.New("--prob and --quote go together with --finish-by")
	case file && p.quote:
		return errors.New("--quote asks about jobs that are submitted, and of a file none is yet: leave it out, as nothing stays if the flow is refused")
	case p.prob != "":
		if p.probability, err = prob.Parse(p.prob); err != nil {
			return fmt.Errorf("--prob: %w", err)
		}
	}
	return nil
}

// submit submits the jobs of a file and, if there is a deadline, has the flow promised.
func (p *promising) submit(ctx context.Context, env *cli.Env, link *link.Link, path string, columns []table.Column[api.FlowJob], style *options.Style) error {
	f, err := ReadFile(path, env.Stdin)
	if err != nil {
		return err
	}
	s, err := submit(ctx, env, f, p.by != 0)
	if err != nil {
		return err
	}
	if p.by == 0 {
		for i := range f.Jobs {
			fmt.Fprintf(env.Stdout, "%s: job %d\n", f.Jobs[i].Name, s.jobs[i])
		}
		return nil
	}
	answer, err := p.ask(ctx, env, link, api.FlowRequest{Name: f.Name, Jobs: s.jobs, Released: true})
	// whoever does not read what is told has the promise all the same, or no jobs
	if err != nil || answer.Refusal != nil {
		undone := s.undo(ctx, cmp.Or(err, cli.ErrNo))
		if answer.Refusal != nil {
			_ = p.tell(env, &answer, columns, style) // is cli.ErrNo
		}
		if ctx.Err() == nil {
			fmt.Fprintln(env.Stderr, "varq: no promise, and no job of the flow stays submitted")
		}
		return undone
	}
	if err := s.release(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	return errors.Join(s.order.Tell(sbatch.Report{Flow: answer.Promised.ID}), p.tell(env, &answer, columns, style))
}

// ask asks for the promise of a flow.
func (p *promising) ask(ctx context.Context, env *cli.Env, link *link.Link, r api.FlowRequest) (answer api.FlowAnswer, err error) {
	r.FinishBy, r.Prob, r.Quote = p.by, p.probability, p.quote
	if err := r.Check(); err != nil {
		return answer, api.ByOption(err, env.Moment)
	}
	varqd, err := link.Dial()
	if err != nil {
		return answer, err
	}
	return varqd.PromiseFlow(ctx, r)
}

// tell tells the answer. The error is cli.ErrNo if that is no.
func (p *promising) tell(env *cli.Env, answer *api.FlowAnswer, columns []table.Column[api.FlowJob], style *options.Style) error {
	no := answer.Refusal
	if style.JSON {
		if err := cli.WriteJSON(env.Stdout, answer); err != nil || no == nil {
			return err
		}
		return cli.ErrNo
	}
	if no == nil {
		fmt.Fprintln(env.Stdout, promised(env, answer.Promised))
		return tell(env, answer.Flow, columns, style)
	}
	fmt.Fprintf(env.Stdout, "Cannot be promised: %s.\n", no.Reason)
	for i, o := range no.Offers {
		if i == 0 {
			fmt.Fprint(env.Stdout, "\nPossible instead, for a minute:\n")
		}
		fmt.Fprintf(env.Stdout, "  --finish-by=%s --prob=%s\n", slurmtime.Format(o.FinishBy, env.Zone), prob.Format(o.Prob))
	}
	return cli.ErrNo
}

// promised tells of a promise that is made, or could be.
func promised(env *cli.Env, f *api.FlowPromise) string {
	what := "Promised"
	if f.ID == "" {
		what = "Can be promised"
	}
	jobs := strings.Join(cli.Numbers(f.Jobs), ", ")
	return fmt.Sprintf("%s: all %s ended by %s with probability %s (estimate %s). They are %s.",
		what, cli.Count(len(f.Jobs), "job has", "jobs have"), slurmtime.Format(f.FinishBy, env.Zone), prob.Format(f.Prob), prob.Format(f.Estimate), jobs)
}
