package every

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// Varqd tells the state of promises.
type Varqd interface {
	// Reservations and Flows list the user's own.
	Reservations(ctx context.Context, q api.ReservationsQuery) ([]api.Reservation, error)
	Flows(ctx context.Context, q api.FlowsQuery) (api.Flows, error)
}

// runner does for series what is due.
type runner struct {
	store   *store
	varqd   Varqd
	now     func() int64
	zone    *time.Location // of what is shown
	host    *time.Location // of series without a zone of their own
	environ []string       // of programs
	turn    *turn          // in which this is done; the program that submits inherits its lock
	// tell is told what the user should hear of: what is new, a line each.
	tell func(format string, args ...any)
}

// submitTime bounds one run of a program. It is long: a killed sbatch may have submitted its job.
const submitTime = 5 * time.Minute

// all does what is due for all series, each by itself, and reports whether there is no bad news.
func (r *runner) all(ctx context.Context, series []*Series) (well bool, err error) {
	well = true
	for _, s := range series {
		ok, failed := r.one(ctx, s)
		well = well && ok
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("series %s: %w", s.ID, failed))
		}
		if ctx.Err() != nil {
			return well, errors.Join(err, ctx.Err())
		}
	}
	return well, err
}

// one does what is due for one series. Whatever becomes of an occurrence, the later ones are tried.
func (r *runner) one(ctx context.Context, s *Series) (well bool, err error) {
	now := r.now()
	schedule, err := s.check(now, r.host)
	if err != nil {
		return false, fmt.Errorf("%s: %w", r.store.path(fileOf(s.ID)), err)
	}
	s.plan(schedule, now)
	well = true
	_, asked := r.refresh(ctx, s)
	for i := range s.Occurrences {
		o := &s.Occurrences[i]
		switch {
		case o.State == StateRefused && o.At <= r.now():
			o.State, well = api.StateMissed, false
			r.news(s, o)
			r.store.forgetPlans(s.ID, o.At)
		case o.State == StateRefused:
			ok, failed := r.submit(ctx, s, o)
			well = well && ok
			if failed != nil {
				return false, failed
			}
		}
	}
	return well, errors.Join(asked, r.save(s))
}

// save writes a series, unless it is somebody else's turn by now.
func (r *runner) save(s *Series) error {
	if err := r.turn.goOn(r.now()); err != nil {
		return err
	}
	return r.store.save(s)
}

// news tells the user what has become of an occurrence.
func (r *runner) news(s *Series, o *Occurrence) {
	r.tell("series %s, %s: %s: %s", s.ID, slurmtime.Format(o.At, r.zone), o.State, o.Note)
}

// known is what varqd knows of an occurrence.
type known struct {
	jobs        []int64 // none while the job may still come, or varqd closes its plan
	state, note string
}

// refresh asks varqd what has become of the occurrences that are reserved, or may be, and returns
// what it knows of them, by place in the series. Those that it cannot ask about stay as they are.
func (r *runner) refresh(ctx context.Context, s *Series) (all []*known, err error) {
	all = make([]*known, len(s.Occurrences))
	for i := range s.Occurrences {
		o := &s.Occurrences[i]
		if o.settled() || o.State != StateSubmitting && o.Job == 0 {
			continue
		}
		all[i], err = r.known(ctx, s, o)
		switch {
		case err != nil && o.State == StateSubmitting:
			return nil, fmt.Errorf("what became of the %s for %s is not known yet: %w", s.name(), slurmtime.Format(o.At, r.zone), err)
		case err != nil:
			return nil, err
		}
		switch is := all[i]; {
		case is != nil && len(is.jobs) > 0:
			o.Job = is.jobs[0]
			r.follow(s, o, is)
		case is == nil && o.State == StateSubmitting:
			o.State, o.Note = StateRefused, cmp.Or(o.Note, s.name()+" was killed, or did not end, and has submitted nothing")
		}
	}
	return all, nil
}

// known returns what varqd knows of an occurrence: of its job or, if that is not known, of the job
// that a program has submitted of which nobody saw the end. It is nil if varqd knows nothing. No
// other promise is the occurrence's than those that were made for its program, whatever else has
// its deadline or the number of its job.
func (r *runner) known(ctx context.Context, s *Series, o *Occurrence) (*known, error) {
	reports, err := r.store.reports(s.ID, o.At)
	if err != nil {
		return nil, err
	}
	if s.Flow {
		return r.knownFlow(ctx, s, o, reports)
	}
	var plans []string
	for i := range reports {
		if plan := reports[i].Plan; plan != nil {
			plans = append(plans, plan.ID)
		}
	}
	if len(plans) == 0 {
		return nil, nil
	}
	found, err := r.varqd.Reservations(ctx, api.ReservationsQuery{All: true, Selection: api.Selection{Start: o.At, End: o.At + 1}})
	if err != nil {
		return nil, err
	}
	var jobless *known
	for i := range found {
		switch is := &found[i]; {
		case !slices.Contains(plans, is.ID):
		case is.Job != 0 && (o.Job == 0 || o.Job == is.Job):
			return &known{[]int64{is.Job}, is.State, is.Note}, nil
		case is.State == api.StatePromised:
			jobless = &known{nil, is.State, is.Note}
		}
	}
	return jobless, nil
}

// follow takes over what varqd says of an occurrence.
func (r *runner) follow(s *Series, o *Occurrence, is *known) {
	if is.state == o.State {
		return
	}
	o.State, o.Note = is.state, is.note
	if o.State == api.StateMissed {
		r.news(s, o)
	}
	if o.settled() {
		r.store.forgetPlans(s.ID, o.At)
	}
}

// submit has sbatch, or varq flow, reserve an occurrence. Before that is on disk, it does not run.
// A refusal is not an error. It is news the first time only, and then ok is false.
func (r *runner) submit(ctx context.Context, s *Series, o *Occurrence) (ok bool, err error) {
	first := o.Tried == 0
	o.State, o.Tried, o.Note = StateSubmitting, r.now(), ""
	order, err := r.store.order(s.ID, o.At)
	if err == nil {
		err = r.save(s)
	}
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, submitTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Program, append(s.own(o.At), s.Args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Dir, append(slices.Clone(r.environ), order), &stdout, &stderr
	cmd.ExtraFiles = []*os.File{r.turn.lock}
	cmd.WaitDelay = 10 * time.Second
	failed := cmd.Run()
	if ctx.Err() != nil {
		return false, fmt.Errorf("%s for %s did not end; the next run finds out what became of it: %w", s.name(), slurmtime.Format(o.At, r.zone), ctx.Err())
	}
	job, refused := s.submitted(stdout.String())
	o.Note = said(cmp.Or(refused, stderr.String()), r.zone)
	switch {
	case failed != nil:
		o.State = StateRefused
		if o.Note == "" {
			o.Note = fmt.Sprintf("%s: %v", s.name(), failed)
		}
		if first {
			r.news(s, o)
		}
		// It may have been killed, or have lost its connection, when Slurm had the job already.
		if reports, err := r.store.reports(s.ID, o.At); err != nil || mayHaveJob(reports) {
			o.State = StateSubmitting
		}
	case job <= 0:
		return false, fmt.Errorf("%s printed %.40q, and no job's number; the next run finds out what it has submitted", s.name(), stdout.String())
	default:
		o.State, o.Job = api.StatePending, job
	}
	return failed == nil || !first, r.save(s)
}

// mayHaveJob reports whether a program that has reported this may have submitted a job.
func mayHaveJob(reports []sbatch.Report) (may bool) {
	for i := range reports {
		r := &reports[i]
		may = (may || r.Plan != nil || r.Job != 0) && !r.Cancelled
	}
	return may
}

// submitted reads what the program has printed: the number of the job that it has submitted, or of
// the first one of a flow, and why a flow is refused. The number is 0 if none is read.
func (s *Series) submitted(printed string) (job int64, refused string) {
	if s.Flow {
		return submittedFlow(printed)
	}
	job, _ = sbatch.Number(printed)
	return job, ""
}

// said returns what sbatch has said on one line, as a terminal may show it.
func said(text string, zone *time.Location) string {
	text = slurmtime.InZone(strings.Join(strings.Fields(text), " "), zone)
	if len(text) > maxTold {
		text = strings.ToValidUTF8(text[:maxTold], "") + "..."
	}
	return text
}

// cleaned returns an environment without what Slurm gives a job: Slurm runs the commands of
// scrontab(1) as jobs, and an sbatch in a job would take that one's size for its own, and varq's
// options for those of a step.
func cleaned(environ []string) []string {
	var kept []string
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if (strings.HasPrefix(name, "SLURM_") || strings.HasPrefix(name, "SLURMD_") || strings.HasPrefix(name, "SPANK_")) && name != "SLURM_CONF" {
			continue
		}
		kept = append(kept, variable)
	}
	return kept
}

// cancel ends a series: it cancels its jobs that wait, and forgets it. Jobs that have started run
// on. What varqd does not know for a job of the series is left alone.
func (r *runner) cancel(ctx context.Context, s *Series) (jobs int, err error) {
	all, err := r.refresh(ctx, s)
	if err != nil {
		return 0, err
	}
	for i := range s.Occurrences {
		if o := &s.Occurrences[i]; o.State == StateSubmitting {
			return 0, fmt.Errorf("the %s for %s may still submit its job; try again in a minute", s.name(), slurmtime.Format(o.At, r.zone))
		}
	}
	var waiting []int64
	for i := range s.Occurrences {
		o := &s.Occurrences[i]
		if o.State != api.StatePending {
			continue
		}
		switch is := all[i]; {
		case is != nil && len(is.jobs) == 0:
			return 0, fmt.Errorf("varqd does not know job %d for %s yet; try again in a minute", o.Job, slurmtime.Format(o.At, r.zone))
		case is == nil:
			r.tell("series %s, %s: varqd knows no reservation of this series for job %d, which is left alone; if it is yours: scancel %d",
				s.ID, slurmtime.Format(o.At, r.zone), o.Job, o.Job)
		default:
			waiting = append(waiting, is.jobs...)
		}
	}
	if len(waiting) > 0 {
		if err := r.slurm(s).CancelJobs(ctx, waiting, true); err != nil {
			return 0, fmt.Errorf("%w; the series stays, and so may some of its jobs: try again", err)
		}
	}
	return len(waiting), r.store.remove(s.ID)
}

// slurm has Slurm's commands: those beside a series' sbatch.
func (r *runner) slurm(s *Series) *sbatch.Program {
	path := s.Program
	if s.Flow {
		path = "sbatch"
	}
	return &sbatch.Program{Path: path, Env: r.environ}
}
