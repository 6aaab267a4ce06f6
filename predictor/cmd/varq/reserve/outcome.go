package reserve

import (
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/broker"
)

// left tells of jobs that may be left.
func (t *teller) left(remains []broker.Left) {
	for _, l := range remains {
		fmt.Fprintf(t.Stderr, "varq: cluster %s may show a job that cannot run (its comment has %s%s), which its Slurm cancels at about %s: scancel it if you like\n",
			l.Site, api.CommentPrefix, l.Plan, t.Moment(l.Until))
	}
}

// outcome tells what was reserved, or that nothing was. A parsable one is a job's number alone, as
// sbatch --parsable prints it.
func (t *teller) outcome(o *broker.Outcome, remains []broker.Left, parsable bool) error {
	if t.asJSON {
		err := cli.WriteJSON(t.Stdout, struct {
			*broker.Outcome
			Sites []broker.Answer `json:"sites"`
			Left  []broker.Left   `json:"left,omitempty"`
		}{o, t.answers, remains})
		switch {
		case err != nil && o.Taken != nil:
			return fmt.Errorf("job %d at %s is reserved, but that cannot be told: %w", o.Taken.Job, o.Taken.Site, err)
		case err == nil && o.Taken == nil:
			return cli.ErrNo
		}
		return err
	}
	for _, f := range o.Tried {
		fmt.Fprintf(t.Stderr, "varq: could not be had: %s: %s\n", t.slot(&f.Choice), cli.Printable(slurmtime.InZone(f.Why, t.Zone)))
	}
	t.problems()
	switch where := o.Taken; {
	case where == nil && len(o.Tried) > 0:
		fmt.Fprintln(t.Stderr, "varq: nothing is reserved, as none of the slots that were tried could be had")
		return cli.ErrNo
	case where == nil:
		t.nothing()
		return cli.ErrNo
	case parsable && where.Site == t.here:
		fmt.Fprintln(t.Stdout, where.Job)
		return nil
	case parsable:
		// as sbatch --parsable --clusters does
		fmt.Fprintf(t.Stdout, "%d;%s\n", where.Job, where.Site)
		return nil
	case where.Site == t.here:
		fmt.Fprintf(t.Stdout, "Submitted batch job %d\n", where.Job)
	default:
		fmt.Fprintf(t.Stdout, "Submitted batch job %d on cluster %s\n", where.Job, where.Site)
	}
	word := "reserved"
	if o.Taken.Method != "" {
		word = "reserved, not promised"
	}
	fmt.Fprintf(t.Stdout, "%s: %s\n", word, t.slot(o.Taken))
	if o.RunnerUp != nil {
		fmt.Fprintf(t.Stdout, "next best: %s\n", t.slot(o.RunnerUp))
	}
	return nil
}
