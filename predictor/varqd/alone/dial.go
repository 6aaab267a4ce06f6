package alone

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/client"
)

// Command is the command of varq that calls Run.
const Command = "alone"

// How often a process is asked whether it can answer, and how long it may take to be there at all.
const (
	poll  = 100 * time.Millisecond
	birth = 10 * time.Second
)

// pace is how long a process may take to say what it does, and to come to something else.
type pace struct{ say, step time.Duration }

var usual = pace{say: 15 * time.Second, step: 2 * time.Minute}

// User is the user of this process, who has nothing but the program varq.
type User struct {
	Getenv  func(string) string
	Program string // varq, by its path
}

// Dial returns a client of the process that forecasts for her, once that can answer. If there is
// none, Dial starts it. It calls progress with what the process does meanwhile.
func (u User) Dial(ctx context.Context, progress func(doing string)) (*client.Client, error) {
	at, err := Find(u.Getenv)
	if err != nil {
		return nil, err
	}
	return u.dial(ctx, at, usual, progress)
}

// Shadow is the function Shadow for her, once her process has read the past.
func (u User) Shadow(ctx context.Context, q api.ShadowQuery, progress func(doing string)) (api.Shadow, error) {
	at, err := Find(u.Getenv)
	if err != nil {
		return api.Shadow{}, err
	}
	if _, err := u.dial(ctx, at, usual, progress); err != nil {
		return api.Shadow{}, err
	}
	o, err := newOptions(at, slog.New(slog.DiscardHandler))
	if err != nil {
		return api.Shadow{}, err
	}
	told := 0
	return Shadow(ctx, &o, q, func(percent int) {
		if percent >= told+20 {
			told = percent
			progress(fmt.Sprintf("has replayed %d %% of the past", percent))
		}
	})
}

func (u User) dial(ctx context.Context, at Place, most pace, progress func(doing string)) (*client.Client, error) {
	c, err := client.New("unix://"+at.Socket, "")
	if err != nil {
		return nil, err
	}
	c.Timeout = most.say
	var ended chan error
	var gone error
	said, since, until := "", time.Now(), time.Now().Add(birth)
	for {
		health, err := c.Health(ctx)
		slow, _ := errors.AsType[net.Error](err)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil && health.OK:
			c.Timeout = answerTime
			return c, nil
		case err == nil && len(health.Problems) > 0:
			return nil, errors.New(health.Problems[0])
		case err == nil && len(health.Notes) > 0 && health.Notes[0] != said:
			said, since = health.Notes[0], time.Now()
			progress(said)
		case err == nil && time.Since(since) > most.step:
			return nil, fmt.Errorf("your own forecaster %s, and has come no further for %v: ask again later, or end it by 'kill %s', and ask again", said, most.step, processOf(at.Folder))
		case err == nil:
		case slow != nil && slow.Timeout():
			return nil, fmt.Errorf("your own forecaster does not answer within %v: end it by 'kill -9 %s', and ask again", most.say, processOf(at.Folder))
		case !errors.Is(err, client.ErrUnreachable):
			return nil, err
		case ended == nil:
			if ended, err = u.start(at); err != nil {
				return nil, err
			}
		case time.Now().After(until):
			return nil, fmt.Errorf("your own forecasts do not begin: %w%s", cmp.Or(gone, err), last(at))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case gone = <-ended: // perhaps as another process was quicker, which is about to answer
			until = time.Now().Add(poll * 10)
		case <-time.After(poll):
		}
	}
}

// errEnded is what start's channel has for a process that has ended without a word.
var errEnded = errors.New("no reason given")

// start starts a process that outlives this one. The channel tells when it has ended.
func (u User) start(at Place) (ended chan error, err error) {
	if _, err := exec.LookPath("squeue"); err != nil {
		return nil, fmt.Errorf("this host has neither a varqd nor Slurm's commands: %w", err)
	}
	log, err := os.OpenFile(logOf(at), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(u.Program, Command)
	cmd.Env, cmd.Dir, cmd.Stderr = Environment(), at.Folder, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended = make(chan error, 1)
	go func() {
		if err := cmd.Wait(); err != nil {
			ended <- err
			return
		}
		ended <- errEnded
	}()
	return ended, nil
}

// processOf returns the number of the process for a command line.
func processOf(folder string) string {
	id, err := os.ReadFile(pidOf(folder))
	if err != nil {
		return "$(cat " + pidOf(folder) + ")"
	}
	return string(bytes.TrimSpace(id))
}

func logOf(at Place) string { return filepath.Join(at.Folder, "log") }

// last returns the last line that the process has logged, after a colon.
func last(at Place) string {
	text, err := os.ReadFile(logOf(at))
	text = bytes.TrimSpace(text)
	if err != nil || len(text) == 0 {
		return ""
	}
	return ": " + string(text[bytes.LastIndexByte(text, '\n')+1:])
}
