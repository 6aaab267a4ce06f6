package mixed

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/cluster"
)

// judge waits until no job is left, and compares.
func (c *campaign) judge(ctx context.Context) (*Report, error) {
	c.Say("waiting until the last job has ended")
	if err := c.drained(ctx); err != nil {
		return nil, err
	}
	starts, err := c.starts(ctx)
	if err != nil {
		return nil, err
	}
	// what is settled last is settled a moment after its job
	var settled map[int64]*api.Reservation
	for range 30 {
		open := 0
		if settled, open, err = c.settled(ctx); err != nil {
			return nil, err
		}
		if open == 0 {
			break
		}
		if err := cluster.Sleep(ctx, 2*time.Second); err != nil {
			return nil, err
		}
	}
	r := newReport()
	for _, j := range c.jobs {
		if j.Patience != 0 {
			r.offer(j)
		}
		switch {
		case j.Patience != 0 && j.ID == 0:
		case j.Prob == 0 && j.kind.tasks > 0: // of an array no wait was forecast
		case j.Prob == 0:
			if s, ok := starts[j.ID]; ok {
				r.forecast(j, s.start-s.submit)
			}
		case j.ID == 0:
			r.refused(j)
		default:
			j.InTime, j.Late, err = c.wrote(j)
			if err != nil {
				return nil, err
			}
			r.promised(j, settled[j.ID])
			moves, err := c.moves(ctx, j)
			if err != nil {
				return nil, err
			}
			r.Moves = append(r.Moves, moves)
		}
	}
	return r, nil
}

func (c *campaign) drained(ctx context.Context) error {
	for {
		r, err := c.Run(ctx, "root", "squeue", "--noheader", "--states=all", "--format=%T")
		if err != nil {
			return err
		}
		left := 0
		for state := range strings.FieldsSeq(r.Stdout) {
			if state == "PENDING" || state == "RUNNING" || state == "COMPLETING" {
				left++
			}
		}
		if left == 0 && r.Code == 0 {
			return nil
		}
		if err := cluster.Sleep(ctx, 2*time.Second); err != nil {
			return fmt.Errorf("%d jobs are left: %w", left, err)
		}
	}
}

// row is what accounting knows of a job, in Unix seconds.
type row struct{ submit, start int64 }

// starts returns when jobs that have started were submitted, and when they started, by their
// numbers.
func (c *campaign) starts(ctx context.Context) (map[int64]row, error) {
	cmd := c.Command(ctx, "root", "sacct", "--allusers", "--allocations", "--noheader", "--parsable2", "--format=JobIDRaw,Submit,Start")
	cmd.Env = append(cmd.Env, "SLURM_TIME_FORMAT=%s")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("sacct: %w", err)
	}
	starts := map[int64]row{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 {
			return nil, fmt.Errorf("sacct: %q", line)
		}
		id, noID := strconv.ParseInt(f[0], 10, 64)
		submit, noSubmit := strconv.ParseInt(f[1], 10, 64)
		start, noStart := strconv.ParseInt(f[2], 10, 64)
		if errors.Join(noID, noSubmit, noStart) == nil {
			starts[id] = row{submit, start}
		}
	}
	return starts, nil
}

// settled returns all promises by their jobs, and how many are not settled.
func (c *campaign) settled(ctx context.Context) (of map[int64]*api.Reservation, open int, err error) {
	r, err := c.Run(ctx, "root", "varq", "status", "--all", "--old", "--json")
	if err != nil {
		return nil, 0, err
	}
	var list []api.Reservation
	if err := json.Unmarshal([]byte(r.Stdout), &list); err != nil {
		return nil, 0, fmt.Errorf("varq status: %w: %s", err, r.Stderr)
	}
	of = map[int64]*api.Reservation{}
	for i := range list {
		v := &list[i]
		of[v.Job] = v
		if v.State != api.StateKept && v.State != api.StateMissed && v.State != api.StateCancelled {
			open++
		}
	}
	return of, open, nil
}

// moves returns how often varq moved the begin time of a job.
func (c *campaign) moves(ctx context.Context, j *job) (n int, err error) {
	r, err := c.Run(ctx, "root", "varq", "status", "--json", strconv.FormatInt(j.ID, 10))
	if err != nil {
		return 0, err
	}
	var list []api.Reservation
	if err := json.Unmarshal([]byte(r.Stdout), &list); err != nil {
		return 0, fmt.Errorf("varq status %d: %w: %s", j.ID, err, r.Stderr)
	}
	for i := range list {
		for _, e := range list[i].Events {
			if e.Kind == "moved" {
				n++
			}
		}
	}
	return n, nil
}

// slack is how many seconds a job may write later than what it writes of.
const slack = 2

// wrote reports whether the promise of a job was certainly kept, or certainly not, by what the job
// itself, or all tasks of the array, wrote.
func (c *campaign) wrote(j *job) (inTime, late bool, err error) {
	word := "begin"
	if j.Mode == finish {
		word = "end"
	}
	f, err := os.Open(filepath.Join(c.stamps(), j.Name))
	if errors.Is(err, os.ErrNotExist) {
		return false, true, nil
	}
	if err != nil {
		return false, false, err
	}
	defer f.Close()
	in, about := map[int64]bool{}, map[int64]bool{} // jobs, or tasks, in time and about in time
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var what string
		var at, id int64
		if _, err := fmt.Sscan(lines.Text(), &what, &at, &id); err != nil {
			return false, false, fmt.Errorf("job %s has written %q: %w", j.Name, lines.Text(), err)
		}
		if what == word {
			in[id], about[id] = in[id] || at <= j.Deadline, about[id] || at <= j.Deadline+slack
		}
	}
	return complete(in, j.kind.tasks), !complete(about, j.kind.tasks), lines.Err()
}

// complete reports whether so many tasks, or one job, are.
func complete(are map[int64]bool, tasks int) bool {
	n := 0
	for _, is := range are {
		if is {
			n++
		}
	}
	return n >= max(1, tasks)
}
