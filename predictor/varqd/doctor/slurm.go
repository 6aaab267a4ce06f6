package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
	"github.com/varq-project/varq/predictor/workload"
)

// Client is what the doctor asks of Slurm; see package slurmrestd for the methods.
type Client interface {
	About(ctx context.Context) (slurmrestd.About, error)
	TokenExpires() (time.Time, error)
	Clock(ctx context.Context) (ahead, uncertainty time.Duration, err error)
	Accounted(ctx context.Context, id int64) ([]workload.Job, error)
	Operators(ctx context.Context) ([]string, error)
	Queue(ctx context.Context) ([]slurm.QueueEntry, error)
	SubmitHeld(ctx context.Context, name string) (int64, error)
	Update(ctx context.Context, u slurm.Update) error
	Favour(ctx context.Context, job int64) error
	Cancel(ctx context.Context, job int64) error
}

// Access is how varqd speaks to Slurm.
type Access struct {
	Client Client
	// User is whom Slurm takes varqd for, or empty if that is not known.
	User string
	// Renewed says that varqd renews its token by itself.
	Renewed bool
}

// Slurm examines the Slurm that varqd asks: who answers, and what it lets varqd do. now is this
// host's clock.
func Slurm(ctx context.Context, a Access, now time.Time) []Finding {
	token := expiry(a, now)
	clock, clockErr := clock(ctx, a.Client)
	accounting, accountingErr := accounting(ctx, a.Client)
	// Some answers to a token that is not taken are none that say so: Slurm 22.05 says it of
	// slurmdbd, 24.11 of slurmctld.
	if err := cmp.Or(permission(clockErr), permission(accountingErr)); err != nil {
		if token.Verdict != Failure {
			token = failure("token", err, askSlurmrestd(err))
		}
		return []Finding{token}
	}
	about, err := a.Client.About(ctx)
	if err != nil {
		return []Finding{failure("slurmrestd", err, askSlurmrestd(err)), token}
	}
	others := actsAsOthers(ctx, a.Client)
	return []Finding{
		ok("slurmrestd", "Slurm %s, API %s", about.Release, about.API),
		token, accounting, clock, rights(ctx, a.Client, a.User, others, now), limits(a.User, others),
	}
}

// permission returns err if it is a slurm.ErrPermission, and else nil.
func permission(err error) error {
	if errors.Is(err, slurm.ErrPermission) {
		return err
	}
	return nil
}

// askSlurmrestd is the remedy of an error of slurmrestd.
func askSlurmrestd(err error) string {
	if errors.Is(err, slurm.ErrPermission) {
		return "check slurmrestd.token_file or token_command, slurmrestd.user, and that slurmrestd runs with SLURM_JWT=daemon"
	}
	if errors.Is(err, slurm.ErrVersion) {
		return "start slurmrestd without -d, or with an older version beside: -d v0.0.45,v0.0.44"
	}
	return "check slurmrestd.url, and that slurmrestd and slurmctld run: systemctl status slurmrestd slurmctld"
}

// soon is when a token expires soon that nobody renews by itself.
const soon = 24 * time.Hour

// expiry examines the token itself. Whether Slurm takes it shows in every answer.
func expiry(a Access, now time.Time) Finding {
	const of = "token"
	expires, err := a.Client.TokenExpires()
	left := expires.Sub(now).Round(time.Second)
	switch {
	case errors.Is(err, slurmrestd.ErrNoToken):
		return ok(of, "none: slurmrestd acts as its own user")
	case err != nil:
		return failure(of, err, "check slurmrestd.token_file or token_command: scontrol token prints a token")
	case expires.Unix() == 0:
		return ok(of, "never expires")
	case left <= 0:
		return failure(of, fmt.Sprintf("expired at %s", expires.Format(time.RFC3339)), "make a new one: "+newToken(a.User))
	case left < soon && !a.Renewed:
		return warning(of, fmt.Sprintf("expires in %v", left), "renew it before, or use slurmrestd.token_command")
	}
	return ok(of, "expires at %s, in %v", expires.Format(time.RFC3339), left)
}

// accounting asks slurmdbd about a job that need not exist, and also returns the error of that.
func accounting(ctx context.Context, c Client) (Finding, error) {
	if _, err := c.Accounted(ctx, 1); err != nil {
		return failure("accounting", err, "check that slurmdbd runs, and that slurmrestd serves /slurmdb: systemctl status slurmdbd"), err
	}
	return ok("accounting", "slurmdbd answers"), nil
}

// apart is how far Slurm's clock may be from varqd's.
const apart = 2 * time.Second

// clock also returns the error of the measurement.
func clock(ctx context.Context, c Client) (Finding, error) {
	const of = "clock"
	ahead, uncertainty, err := c.Clock(ctx)
	if err != nil {
		return failure(of, err, askSlurmrestd(err)), err
	}
	found := fmt.Sprintf("Slurm's is ahead of this host's by %v, +-%v", ahead.Round(time.Millisecond), uncertainty.Round(time.Millisecond))
	if ahead.Abs()-uncertainty > apart {
		return warning(of, found, "synchronise the clocks of both hosts, with chrony for example"), nil
	}
	return ok(of, "%s", found), nil
}

// trialName is the name of the job that rights submits.
const trialName = "varq-doctor"

// cleanTime bounds how long it takes to cancel the job of the trial.
const cleanTime = time.Minute

// rights tries, on a held job of its own, what only an operator may do. It cancels that job,
// also if ctx ends, and those that an earlier trial was killed with. It need not try if others,
// the result of actsAsOthers, is nil.
func rights(ctx context.Context, c Client, user string, others error, now time.Time) (found Finding) {
	const of = "rights"
	if others == nil {
		return ok(of, "%s may act as any user of Slurm", orVarq(user))
	}
	grant := fmt.Sprintf("sacctmgr modify user %s set adminlevel=operator", orVarq(user))
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	// The answer tells the id of the job, so it is waited for even if ctx ends.
	job, err := c.SubmitHeld(last, trialName)
	defer func() {
		if err := clean(last, c, user, job); err != nil {
			found = failure(of, fmt.Sprintf("the job of the trial could not be cancelled: %v", err), "scancel --name="+trialName)
		}
	}()
	if err != nil {
		return listed(ctx, c, user, grant, err)
	}
	err = c.Update(ctx, slurm.Update{Job: job, BeginTime: now.Unix() + 24*3600, TimeLimit: 120})
	if err == nil {
		err = c.Favour(ctx, job)
	}
	switch {
	case errors.Is(err, slurm.ErrPermission):
		return failure(of, fmt.Sprintf("%s is not an operator: %v", orVarq(user), err), grant)
	case err != nil:
		return failure(of, fmt.Sprintf("job %d could not be changed: %v", job, err), "look into slurmctld's log")
	}
	return ok(of, "%s is an operator: tried on the held job %d, which is cancelled", orVarq(user), job)
}

// noJob is the id of a job that there never is: it is beyond the greatest MaxJobId of Slurm,
// 0x03ff0000. It is the greatest that slurmrestd 24.11 passes on; of others it says by itself that
// there are none.
const noJob = 1<<26 - 2

// actsAsOthers returns nil if Slurm lets varqd's user act as others: then it says that there is
// no such job, and not that this is not permitted.
func actsAsOthers(ctx context.Context, c Client) error {
	err := c.Update(ctx, slurm.Update{Job: noJob, Owner: "nobody", TimeLimit: 60})
	if errors.Is(err, slurm.ErrNotFound) {
		return nil
	}
	return err
}

// limits examines whether varqd can change time limits, as the jobs' owners. It works without.
// others is the result of actsAsOthers.
func limits(user string, others error) Finding {
	const of = "limits"
	switch {
	case others == nil:
		return ok(of, "varqd changes the time limits of waiting jobs, as their owners")
	case errors.Is(others, slurm.ErrPermission):
		return ok(of, "time limits of waiting jobs stay as submitted: %s is not SlurmUser (varqd(8), Rights in Slurm)", orVarq(user))
	default:
		return failure(of, others, askSlurmrestd(others))
	}
}

func orVarq(user string) string {
	if user == "" {
		return "varqd's user"
	}
	return user
}

// listed looks for user among the operators, because no job could be submitted for why.
func listed(ctx context.Context, c Client, user, grant string, why error) Finding {
	const of = "rights"
	operators, err := c.Operators(ctx)
	switch {
	case err != nil:
		return failure(of, err, askSlurmrestd(err))
	case !slices.Contains(operators, user):
		return failure(of, fmt.Sprintf("%s is not among Slurm's operators", orVarq(user)), grant)
	}
	return warning(of, fmt.Sprintf("%s is among Slurm's operators, which could not be tried: %v", user, why),
		"let the user submit a job, or live with less certainty")
}

// clean cancels job, unless it is 0, and the pending jobs of earlier trials.
func clean(ctx context.Context, c Client, user string, job int64) error {
	var errs []error
	if job != 0 {
		errs = append(errs, c.Cancel(ctx, job))
	}
	queue, err := c.Queue(ctx)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for i := range queue {
		if j := &queue[i]; j.Name == trialName && j.User == user && j.Held && j.ID != job {
			errs = append(errs, c.Cancel(ctx, j.ID))
		}
	}
	return errors.Join(errs...)
}
