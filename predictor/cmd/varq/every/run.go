package every

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Varqd tells the state of reservations.
type Varqd interface {
	// Reservations lists the user's own.
	Reservations(ctx context.Context, q api.ReservationsQuery) ([]api.Reservation, error)
}

// runner does for series what is due.
type runner struct {
	store   *store
	varqd   Varqd
	now     func() int64
	zone    *time.Location // of what is shown
	host    *time.Location // of series without a zone of their own
	environ []string       // of sbatch
	lock    *os.File       // which sbatch inherits
	// tell is told what the user should hear of: what is new, a line each.
	tell func(format string, args ...any)
}

// sbatchTime bounds one run of sbatch. It is long: a killed sbatch may have submitted its job.
const sbatchTime = 5 * time.Minute

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
		return false, fmt.Errorf("%s: %w", r.store.path(s.ID), err)
	}
	s.plan(schedule, now)
	well = true
	asked := r.refresh(ctx, s)
	for i := range s.Occurrences {
		o := &s.Occurrences[i]
		switch {
		case o.State == StateRefused && o.At <= r.now():
			o.State, well = api.StateMissed, false
			r.news(s, o)
		case o.State == StateRefused:
			ok, failed := r.submit(ctx, s, o)
			well = well && ok
			if failed != nil {
				return false, failed
			}
		}
	}
	return well, errors.Join(asked, r.store.save(s))
}

// news tells the user what has become of an occurrence.
func (r *runner) news(s *Series, o *Occurrence) {
	r.tell("series %s, %s: %s: %s", s.ID, slurmtime.Format(o.At, r.zone), o.State, o.Note)
}

// refresh asks varqd what has become of the occurrences that are reserved, or may be. Those that it cannot ask about stay as they are.
func (r *runner) refresh(ctx context.Context, s *Series) error {
	for i := range s.Occurrences {
		o := &s.Occurrences[i]
		switch {
		case o.State == StateSubmitting:
			if err := r.resolve(ctx, s, o); err != nil {
				return err
			}
		case o.Job != 0 && !o.settled():
			found, err := r.varqd.Reservations(ctx, api.ReservationsQuery{Job: o.Job, All: true})
			if err != nil {
				return err
			}
			for j := range found {
				if found[j].BeginBy == o.At && found[j].Job == o.Job {
					r.follow(s, o, &found[j])
				}
			}
		}
	}
	return nil
}

// follow takes over what varqd says of an occurrence's job.
func (r *runner) follow(s *Series, o *Occurrence, is *api.Reservation) {
	if is.State == o.State {
		return
	}
	o.State, o.Note = is.State, is.Note
	if o.State == api.StateMissed {
		r.news(s, o)
	}
}

// resolve finds out whether an sbatch of which nobody saw the end has submitted the job of an occurrence: then it has a reservation, which is of
// no other occurrence and was made since, and last.
func (r *runner) resolve(ctx context.Context, s *Series, o *Occurrence) error {
	found, err := r.varqd.Reservations(ctx, api.ReservationsQuery{All: true, Selection: api.Selection{Start: o.At, End: o.At + 1}})
	if err != nil {
		return fmt.Errorf("what became of the sbatch for %s is not known yet: %w", slurmtime.Format(o.At, r.zone), err)
	}
	all, _ := r.store.list()
	taken := map[int64]bool{}
	for _, other := range all {
		for i := range other.Occurrences {
			taken[other.Occurrences[i].Job] = true
		}
	}
	var its *api.Reservation // the last one: those before it are of what was cancelled, or of the user's own sbatch
	for i := range found {
		is := &found[i]
		mayBe := is.BeginBy == o.At && is.Promised >= o.Tried-clocksApart
		if is.Job == 0 {
			mayBe = mayBe && is.State == api.StatePromised // its job may still come, or varqd closes it
		} else {
			mayBe = mayBe && !taken[is.Job]
		}
		if mayBe && (its == nil || is.Promised >= its.Promised) {
			its = is
		}
	}
	switch {
	case its == nil:
		o.State, o.Note = StateRefused, "sbatch was killed, or did not end, and has submitted nothing"
	case its.Job != 0:
		o.Job = its.Job
		r.follow(s, o, its)
	}
	return nil
}

// clocksApart is by how much varqd's clock may be behind this host's, in seconds.
const clocksApart = 60

// submit has sbatch reserve an occurrence. Before that is on disk, sbatch does not run. A refusal is no error. It is news the first time only, and
// then ok is false.
func (r *runner) submit(ctx context.Context, s *Series, o *Occurrence) (ok bool, err error) {
	first := o.Tried == 0
	o.State, o.Tried = StateSubmitting, r.now()
	if err := r.store.save(s); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, sbatchTime)
	defer cancel()
	args := []string{"--parsable", "--begin-by=uts" + strconv.FormatInt(o.At, 10)}
	if s.Prob != "" {
		args = append(args, "--prob="+s.Prob)
	}
	cmd := exec.CommandContext(ctx, s.Sbatch, append(args, s.Args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Dir, r.environ, &stdout, &stderr
	cmd.ExtraFiles = []*os.File{r.lock}
	cmd.WaitDelay = 10 * time.Second
	failed := cmd.Run()
	if ctx.Err() != nil {
		return false, fmt.Errorf("sbatch for %s did not end; the next run finds out what became of it: %w", slurmtime.Format(o.At, r.zone), ctx.Err())
	}
	o.Note = said(stderr.String(), r.zone)
	number, _, _ := strings.Cut(strings.TrimSpace(stdout.String()), ";") // the cluster comes after it
	job, unread := strconv.ParseInt(number, 10, 64)
	switch {
	case failed != nil:
		o.State = StateRefused
		if o.Note == "" {
			o.Note = fmt.Sprintf("sbatch: %v", failed)
		}
		if first {
			r.news(s, o)
		}
	case unread != nil || job <= 0:
		return false, fmt.Errorf("sbatch --parsable printed %.40q, and no job's number; the next run finds out what it has submitted", stdout.String())
	default:
		o.State, o.Job = api.StatePending, job
	}
	return failed == nil || !first, r.store.save(s)
}

// said returns what sbatch has said on one line, as a terminal may show it.
func said(text string, zone *time.Location) string {
	text = slurmtime.InZone(strings.Join(strings.Fields(text), " "), zone)
	if len(text) > maxTold {
		text = strings.ToValidUTF8(text[:maxTold], "") + "..."
	}
	return text
}

// cleaned returns an environment without what Slurm gives a job: Slurm runs the commands of scrontab(1) as jobs, and an sbatch in a job would
// take that one's size for its own, and varq's options for those of a step.
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

// cancel ends a series: it cancels its jobs that wait, and forgets it. Jobs that have started run on.
func (r *runner) cancel(ctx context.Context, s *Series) (jobs int, err error) {
	if err := r.refresh(ctx, s); err != nil {
		return 0, err
	}
	args := []string{"--state=PENDING"}
	for i := range s.Occurrences {
		o := &s.Occurrences[i]
		if o.State == StateSubmitting {
			return 0, fmt.Errorf("an sbatch for %s may still submit its job; try again in a minute", slurmtime.Format(o.At, r.zone))
		}
		if o.State == api.StatePending {
			args = append(args, strconv.FormatInt(o.Job, 10))
		}
	}
	if len(args) > 1 {
		// That of the same Slurm as sbatch.
		cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(s.Sbatch), "scancel"), args...)
		cmd.Env = r.environ
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("scancel: %w: %s; the series stays", err, said(string(out), r.zone))
		}
	}
	return len(args) - 1, r.store.remove(s.ID)
}
