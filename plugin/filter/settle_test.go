package filter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// changingSite is a varqd of a site whose plugins may change jobs while they are submitted.
type changingSite struct {
	fakeVarqd
	bound error
	note  string
}

func (v *changingSite) Plan(ctx context.Context, r api.PlanRequest) (api.PlanAnswer, error) {
	a, err := v.fakeVarqd.Plan(ctx, r)
	a.MayChange = true
	return a, err
}

func (v *changingSite) Bind(ctx context.Context, b api.Binding) error {
	return errors.Join(v.fakeVarqd.Bind(ctx, b), v.bound)
}

func (v *changingSite) Reservations(context.Context, api.ReservationsQuery) ([]api.Reservation, error) {
	return []api.Reservation{{Plan: api.Plan{ID: "another"}, Note: "of another"}, {Plan: api.Plan{ID: fakePlan}, Job: 42, Note: v.note}}, nil
}

// Where the site may change a job, the user is told what is promised once varqd has seen the job as
// Slurm has accepted it, while sbatch still waits.
func TestHelperSettles(t *testing.T) {
	for name, c := range map[string]struct {
		site        *changingSite
		environment []string
		want        []string
	}{
		"as planned":  {&changingSite{}, nil, []string{"say promised: running by", "end"}},
		"elsewhere":   {&changingSite{note: "its partition is short"}, nil, []string{"say promised: running by", "say its partition is short", "end"}},
		"quiet":       {&changingSite{note: "its partition is short"}, []string{"VARQ_QUIET=1"}, []string{"end"}},
		"refused":     {&changingSite{bound: api.Fault(api.ErrConflict, "nothing is promised about job 42")}, []string{"VARQ_QUIET=1"}, []string{"say no promise: nothing is promised about job 42", "end"}},
		"not decided": {&changingSite{bound: api.Fault(api.ErrUnavailable, "Slurm cannot be asked now")}, nil, []string{"say promised: running by", "say the site may have changed the job", "end"}},
	} {
		t.Run(name, func(t *testing.T) {
			orders, order := io.Pipe()
			answers, answer := io.Pipe()
			h := Helper{
				Orders: orders, Answer: answer, User: io.Discard, Leave: func() {}, Environment: c.environment,
				Options: func() ([]byte, error) { return []byte(reserves), nil },
				Script:  func(string) ([]byte, error) { return []byte("#!/bin/sh\n"), nil },
				Dial:    func() (Varqd, error) { return c.site, nil },
				Now:     func() time.Time { return time.Unix(now, 0) }, Zone: time.UTC, Pause: time.Second,
			}
			done := make(chan error, 1)
			go func() { done <- h.Run(t.Context()) }()
			fmt.Fprintln(order, "plan sbatch")
			lines := bufio.NewScanner(answers)
			until := func() (list []string) {
				for lines.Scan() {
					list = append(list, lines.Text())
					if lines.Text() == wordEnd {
						break
					}
				}
				return list
			}
			if first := until(); !slices.Contains(first, "wait ") && !slices.Contains(first, "wait") {
				t.Fatalf("answered %q", first)
			}
			fmt.Fprintln(order, "job 42")
			got := until()
			if err := <-done; (err != nil) != (c.site.bound != nil) {
				t.Errorf("the helper ends with %v", err)
			}
			got = slices.DeleteFunc(got, func(line string) bool {
				return strings.HasPrefix(line, "say eligible") || strings.HasPrefix(line, "say the work costs") || strings.HasPrefix(line, "say without --time")
			})
			if len(got) != len(c.want) {
				t.Fatalf("then answered %q, want %q", got, c.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], c.want[i]) {
					t.Errorf("then answered %q, want %q", got, c.want)
				}
			}
		})
	}
}

// The users of srun and salloc are told that nothing is promised about the job that the site has
// made of theirs: as soon as varqd knows that, or when the job has its nodes.
func TestHelperTellsOfRefusal(t *testing.T) {
	const why = "nothing is promised about job 42: its partition is pricey"
	for name, c := range map[string]struct {
		bound error
		note  string // of the reservation, which is cancelled then
	}{
		"when it starts": {bound: api.Fault(api.ErrConflict, why)},
		"while it waits": {note: why},
	} {
		synctest.Test(t, func(t *testing.T) {
			orders, order := io.Pipe()
			answers, answer := io.Pipe()
			var user strings.Builder
			v := &lostVarqd{changingSite: changingSite{bound: c.bound}, note: c.note}
			h := Helper{
				Orders: orders, Answer: answer, User: &user, Leave: func() {},
				Options: func() ([]byte, error) { return []byte(reserves), nil },
				Script:  func(string) ([]byte, error) { return []byte("#!/bin/sh\n"), nil },
				Dial:    func() (Varqd, error) { return v, nil },
				Now:     func() time.Time { return time.Unix(now, 0) }, Zone: time.UTC, Pause: time.Second,
			}
			done := make(chan error, 1)
			go func() { done <- h.Run(t.Context()) }()
			fmt.Fprintln(order, "plan srun")
			if _, err := io.ReadAll(answers); err != nil {
				t.Error(err)
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if told := user.Len() > 0; told != (c.note != "") {
				t.Errorf("%s: told the user %q before the job has its nodes", name, &user)
			}
			fmt.Fprintln(order, "job 42")
			<-done
			if want := "varq: no promise: " + why + "\n"; user.String() != want {
				t.Errorf("%s: told the user %q, want %q", name, &user, want)
			}
		})
	}
}

// lostVarqd is a changingSite that has promised nothing about the job, if there is a note.
type lostVarqd struct {
	changingSite
	note string
}

func (v *lostVarqd) Reservations(context.Context, api.ReservationsQuery) ([]api.Reservation, error) {
	r := api.Reservation{Plan: api.Plan{ID: fakePlan}, Note: v.note}
	if v.note != "" {
		r.State = api.StateCancelled
	}
	return []api.Reservation{r}, nil
}
