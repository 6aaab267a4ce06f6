package daemon

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/varq-project/varq/predictor/varqd/config"
)

// At a signal the policy is read anew. One with errors leaves the one from before in place, and
// health says why until one is read.
func TestReload(t *testing.T) {
	c := testConfig(t)
	var log bytes.Buffer
	next, fails := c, error(nil)
	hangups := make(chan os.Signal)
	d, err := New(Options{
		Config: c, Slurm: &fakeSlurm{}, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Reload: Reload{Signals: hangups, Read: func() (config.Config, error) { return next, fails }},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	hangup := func() {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); d.reload(ctx) }()
		hangups <- syscall.SIGHUP
		stop()
		<-ended
	}
	rules := func() (names []string) {
		l, err := d.desk.Limits(t.Context(), "alice")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range l.Rules {
			names = append(names, r.Name)
		}
		return names
	}
	notes := func() string { return strings.Join(service{daemon: d}.Health(t.Context()).Notes, "\n") }
	if got := rules(); len(got) != 0 {
		t.Fatalf("rules %q before there are any", got)
	}
	most := config.Count(2)
	next.Policy = []config.Rule{{Name: "two", PerUser: config.Open{Reservations: &most}}}
	hangup()
	if got := rules(); len(got) != 1 || got[0] != "two" || strings.Contains(log.String(), "other sections") {
		t.Errorf("rules %q\n%s", got, &log)
	}
	next.Policy, fails = nil, errors.New("varq.yaml:7: policy[0].max_prob: 1 does not lie between 0 and 1")
	hangup()
	if got := rules(); len(got) != 1 || !strings.Contains(notes(), "the one from before stays: varq.yaml:7: policy[0].max_prob") {
		t.Errorf("rules %q, notes %q", got, notes())
	}
	next.Plan.Prob, fails = .5, nil
	hangup()
	if got := rules(); len(got) != 0 || strings.Contains(notes(), "from before") || !strings.Contains(log.String(), "other sections of the configuration have changed") {
		t.Errorf("rules %q, notes %q\n%s", got, notes(), &log)
	}
}
