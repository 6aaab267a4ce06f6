// Package prompt prompts an application to checkpoint when a checkpoint is worth its cost, and
// before the application's job is stopped. It works in a process beside the application. This
// process is not a child of the application. So whatever goes wrong here, the application runs on.
package prompt

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/promise/checkpoint"
)

// Prompter prompts one application.
type Prompter struct {
	Settings
	// Tell completes a request by the risk of the job's nodes, and by what stops the job on them.
	// If the risk is not known, Tell leaves Hazard nil. An error is part of a sentence about the
	// risk.
	Tell func(context.Context, *checkpoint.Request) error
	// End returns when Slurm stops the job, in Unix seconds, or 0 if that is not known.
	End func() (int64, error)
	// Ready returns an error if the application cannot be prompted now, but perhaps later.
	Ready func() error
	// Prompt prompts the application. It returns when the checkpoint is done, as far as it can
	// tell, or when the context is done.
	Prompt func(ctx context.Context, why string) error
	// Log receives messages for the user.
	Log io.Writer

	failing map[string]bool // by subject: whether the last attempt failed
}

// Slurm is asked again when it will stop the job after a share 1/renewalShare of the time left,
// between two bounds. The first time is sooner, because varq-wrapper may just be trimming the job's
// limit.
const (
	renewalShare     = 20
	oftenest, rarest = time.Minute, 10 * time.Minute
	soon             = 30 * time.Second
	// lately is how old Slurm's answer may be when the last prompt comes.
	lately = 5 * time.Second
)

// again is the time after which the last prompt is repeated if the application was not ready for
// it.
const again = time.Second

// renewal returns when Slurm is asked again when it will stop the job. end is Slurm's present
// answer, in Unix seconds or 0.
func renewal(now time.Time, end int64) time.Time {
	pause := rarest
	if end != 0 {
		pause = min(rarest, max(oftenest, time.Unix(end, 0).Sub(now)/renewalShare))
	}
	return now.Add(pause)
}

// Run prompts until the context is done. The context must be done when the application has ended.
func (p *Prompter) Run(ctx context.Context) {
	began := time.Now()
	saved := began // since when there is work that a failure would lose
	end := p.end(0)
	asked, renew := began, began.Add(soon)
	for ctx.Err() == nil {
		now := time.Now()
		since := now.Sub(saved).Truncate(time.Second)
		if !now.Before(renew) {
			end, asked = p.end(end), now
			renew = renewal(now, end)
		}
		r := checkpoint.Request{Cost: p.Cost.Seconds(), Interval: 1, Since: since.Seconds()}
		if end != 0 {
			r.Ends = max(1, time.Unix(end, 0).Sub(now).Seconds())
		}
		p.tell(ctx, &r)
		pause := renew.Sub(now)
		due := false // the last prompt
		switch {
		case since < p.Interval:
			pause = min(pause, p.Interval-since)
		case p.Interval > 0:
			pause = min(pause, p.Interval)
		}
		prompts := true
		if r.Ends > 0 {
			last := p.last(began, now.Add(time.Duration(r.Ends*float64(time.Second))))
			prompts = saved.Before(last) && (end == 0 || now.Unix() < end)
			left := max(0, last.Sub(now))
			due = left == 0
			if !due {
				pause = left / (1 + (left-1)/pause) // so that one question comes exactly then
			}
			r.Ends = left.Seconds() + r.Cost + instant
		}
		r.Interval = pause.Seconds()
		advice := checkpoint.Advise(&r)
		if early := advice.Reason == checkpoint.Worth && since < p.Interval; prompts && advice.Checkpoint && !early {
			// the limit may have been raised meanwhile
			if end != 0 && advice.Reason == checkpoint.LastChance && now.Sub(asked) >= lately {
				renew = now
				continue
			}
			if p.prompt(ctx, advice.Reason) {
				saved = time.Now()
				continue // there is nothing to save now, and time has passed
			}
			if due {
				pause = again
			}
		}
		sleep(ctx, pause)
	}
}

// instant is added to a time, in seconds, so that rounding does not make it too short.
const instant = 1e-6

// last returns when the last prompt comes for a job that is stopped at the time stopped. If the job
// is shorter than Lead, it comes Cost before the end or, if Cost is Guessed, in the middle of the
// job.
func (p *Prompter) last(began, stopped time.Time) time.Time {
	last := stopped.Add(-p.Lead)
	switch {
	case last.After(began):
		return last
	case p.Guessed:
		return began.Add(stopped.Sub(began) / 2)
	default:
		return stopped.Add(-p.Cost)
	}
}

// end returns when the job is stopped, in Unix seconds. If Slurm cannot tell, it returns before,
// the last answer.
func (p *Prompter) end(before int64) int64 {
	end, err := p.End()
	p.complain("end", "nobody knows until when the job may run: %v", err)
	if err != nil {
		return before
	}
	return end
}

// tell completes a request. If the risk is not known, or if there is no Interval, the hazard is 0.
// Then the application is prompted only before the job is stopped.
func (p *Prompter) tell(ctx context.Context, r *checkpoint.Request) {
	err := p.Tell(ctx, r)
	if r.Hazard == nil || p.Interval == 0 {
		r.Hazard = checkpoint.Constant(0)
	}
	p.complain("risk", "the risk of the nodes is %v", err)
}

// prompt prompts the application, unless it is not ready.
func (p *Prompter) prompt(ctx context.Context, why checkpoint.Reason) (prompted bool) {
	err := p.Ready()
	p.complain("ready", "the application is not prompted: %v", err)
	if err != nil {
		return false
	}
	p.say("checkpoint: %s", why)
	err = p.Prompt(ctx, why.String())
	if ctx.Err() == nil {
		p.complain("prompt", "the application cannot be prompted: %v", err)
	}
	return true
}

// complain logs an error, unless the last attempt at the same thing also failed.
func (p *Prompter) complain(about, sentence string, err error) {
	if p.failing == nil {
		p.failing = map[string]bool{}
	}
	if err != nil && !p.failing[about] {
		p.say(sentence, err)
	}
	p.failing[about] = err != nil
}

// say logs one line.
func (p *Prompter) say(sentence string, args ...any) {
	line := strings.ReplaceAll(fmt.Sprintf(sentence, args...), "\n", "; ")
	fmt.Fprintf(p.Log, "varq: %s\n", line)
}
