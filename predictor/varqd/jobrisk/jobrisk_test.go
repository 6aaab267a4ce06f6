package jobrisk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/checkpoint"
)

const start = 1_795_266_000

// varqd is a varqd that answers with a rate of its own each time, or not.
type varqd struct {
	asked int
	err   error
}

func (v *varqd) ask(_ context.Context, nodes string) (api.Risk, error) {
	v.asked++
	if v.err != nil {
		return api.Risk{}, v.err
	}
	return api.Risk{At: start, Nodes: len(nodes), Within: []api.ExpectedFailures{{Within: 3600, Failures: .01}}, Rate: float64(v.asked)}, nil
}

// finder returns a Finder with a cache of its own, and its clock.
func finder(t testing.TB, v *varqd) (*Finder, *int64) {
	now := new(int64)
	*now = start
	return &Finder{Job: "7", Nodes: "n[1-2]", Dir: filepath.Join(t.TempDir(), "varq-0"), Ask: v.ask, Now: func() int64 { return *now }}, now
}

func TestFind(t *testing.T) {
	v := &varqd{}
	f, now := finder(t, v)
	away := errors.New("varqd is away")
	for _, step := range []struct {
		name  string
		after int64 // seconds later
		away  error
		nodes string // other nodes from now on
		asked int    // in all
		rate  float64
		read  int64 // after start
		says  string
	}{
		{name: "first", asked: 1, rate: 1},
		{name: "fresh", after: fresh, away: away, asked: 1, rate: 1},
		{name: "stale, away", after: 1, away: away, asked: 2, rate: 1, says: "varqd is away"},
		{name: "not asked again at once", after: pause, asked: 2, rate: 1, says: "varqd did not answer a moment ago"},
		{name: "stale, back", after: 1, asked: 3, rate: 3, read: fresh + pause + 2},
		{name: "the clock is set back", after: -fresh, asked: 4, rate: 4, read: pause + 2},
		{name: "requeued", nodes: "n3", asked: 5, rate: 5, read: pause + 2},
		{name: "years later", after: 100_000_000, away: away, asked: 6, rate: 5, read: pause + 2, says: "varqd is away"},
	} {
		*now += step.after
		v.err = step.away
		if step.nodes != "" {
			f.Nodes = step.nodes
		}
		k, err := f.Find(t.Context())
		if err != nil || v.asked != step.asked || k.Rate != step.rate || k.Read != start+step.read || step.says == "" != (k.Trouble == nil) || k.Trouble != nil && k.Trouble.Error() != step.says {
			t.Errorf("%s: asked %d times, %+v, %v", step.name, v.asked, k, err)
		}
	}
	f.Job = "8"
	for _, want := range []string{"varqd is away", "varqd did not answer a moment ago"} {
		if _, err := f.Find(t.Context()); err == nil || err.Error() != want {
			t.Errorf("with neither: %v", err)
		}
	}
	for _, bad := range []Finder{{Job: "../7"}, {Job: ""}, {Job: "7", Nodes: strings.Repeat("n", maxNodes+1)}} {
		bad.Ask, bad.Now, bad.Dir = f.Ask, f.Now, f.Dir
		if k, err := bad.Find(t.Context()); err == nil || v.asked != 7 {
			t.Errorf("%.10s of %.10s: %+v", bad.Nodes, bad.Job, k)
		}
	}
}

// TestAhead: what varqd looked at in the future is asked again, and has no age.
func TestAhead(t *testing.T) {
	for ahead, want := range map[int64]struct {
		asked int
		age   int64
	}{0: {1, 0}, skew: {1, 0}, skew + 1: {2, -skew - 1}} {
		v := &varqd{}
		f, now := finder(t, v)
		*now = start - ahead
		for range 2 {
			if k, err := f.Find(t.Context()); err != nil || k.Age(*now) != want.age {
				t.Errorf("%d s ahead: %d s old, %v", ahead, k.Age(*now), err)
			}
		}
		if v.asked != want.asked {
			t.Errorf("%d s ahead: asked %d times", ahead, v.asked)
		}
	}
}

// TestForged: a cache that another could have made is refused, and so is one that makes no sense.
func TestForged(t *testing.T) {
	for name, forge := range map[string]func(dir, file string) error{
		"a folder open to all": func(dir, _ string) error { return os.Chmod(dir, 0o755) },
		"a folder of another": func(dir, _ string) error {
			if os.Getuid() != 0 {
				return os.Chmod(dir, 0o770)
			}
			return os.Chown(dir, 65534, 65534)
		},
		"a link to a folder": func(dir, _ string) error {
			return errors.Join(os.Rename(dir, dir+"-other"), os.Symlink(dir+"-other", dir))
		},
		"a file for a folder": func(dir, _ string) error {
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600))
		},
		"a folder for a file": func(_, file string) error {
			return errors.Join(os.Remove(file), os.Mkdir(file, 0o700))
		},
		"a link": func(dir, file string) error {
			return errors.Join(os.Rename(file, filepath.Join(dir, "other")), os.Symlink("other", file))
		},
		"a file of another": func(_, file string) error {
			if os.Getuid() != 0 {
				return os.WriteFile(file, []byte("{"), 0o600)
			}
			return os.Chown(file, 65534, 65534)
		},
		"garbled":   func(_, file string) error { return os.WriteFile(file, []byte(`{"nodes":"n[1-2]","ri`), 0o600) },
		"too large": func(_, file string) error { return os.WriteFile(file, make([]byte, maxFile+1), 0o600) },
		"no risk": func(_, file string) error {
			return os.WriteFile(file, []byte(`{"nodes":"n[1-2]","read":1795266000,"risk":{"rate":-1}}`), 0o600)
		},
		"of the future": func(_, file string) error {
			return os.WriteFile(file, []byte(`{"nodes":"n[1-2]","read":9e18,"risk":{"rate":1}}`), 0o600)
		},
	} {
		for _, away := range []error{nil, errors.New("varqd is away")} {
			v := &varqd{}
			f, _ := finder(t, v)
			if k, err := f.Find(t.Context()); err != nil || k.Trouble != nil {
				t.Fatal(k, err)
			}
			if err := forge(f.Dir, filepath.Join(f.Dir, "risk-7")); err != nil {
				t.Fatal(err)
			}
			v.err = away
			k, err := f.Find(t.Context())
			if away != nil && !errors.Is(err, away) || away == nil && (err != nil || v.asked != 2 || k.Rate != 2 || k.Trouble == nil) {
				t.Errorf("%s: %+v, %v", name, k, err)
			}
			t.Log(name, k.Trouble, err)
			if name == "a folder of another" && !strings.Contains(fmt.Sprint(k.Trouble, err), "set TMPDIR") {
				t.Errorf("%s: what its user can do: %v, %v", name, k.Trouble, err)
			}
			if left, _ := filepath.Glob(filepath.Join(f.Dir, "risk-7.*")); left != nil {
				t.Errorf("%s: %s is left behind", name, left)
			}
		}
	}
}

func TestTidy(t *testing.T) {
	f, _ := finder(t, &varqd{})
	for _, job := range []string{"5", "6"} {
		f.Job = job
		if _, err := f.Find(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-keep - time.Hour)
	if err := os.Chtimes(filepath.Join(f.Dir, "risk-5"), long, long); err != nil {
		t.Fatal(err)
	}
	f.Job = "7"
	if _, err := f.Find(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(f.Dir)
	if err != nil || len(list) != 2 || list[0].Name() != "risk-6" {
		t.Errorf("%v, %v", list, err)
	}
}

func TestTell(t *testing.T) {
	known := Known{Risk: api.Risk{Within: []api.ExpectedFailures{{Within: 3600, Failures: .01}}, Rate: 1e-6}}
	hazard := &checkpoint.Table{Expected: []checkpoint.Expected{{Within: 3600, Failures: .01}}, LongRun: 1e-6}
	for name, test := range map[string]struct {
		maintenance, drained int64 // after start; 0 for none
		ends, since          float64
		want                 checkpoint.Request
	}{
		"nothing more":                 {ends: 900, since: 60, want: checkpoint.Request{Ends: 900, Since: 60}},
		"a maintenance":                {maintenance: 600, want: checkpoint.Request{Ends: 600}},
		"a maintenance before":         {maintenance: 600, ends: 900, want: checkpoint.Request{Ends: 600}},
		"a maintenance after":          {maintenance: 600, ends: 300, want: checkpoint.Request{Ends: 300}},
		"a maintenance that has begun": {maintenance: -1, ends: 300, want: checkpoint.Request{Ends: 300}},
		"drained since":                {drained: -60, since: 60, want: checkpoint.Request{Since: 60, Warned: true}},
		"drained before":               {drained: -61, since: 60, want: checkpoint.Request{Since: 60}},
	} {
		k := known
		if test.maintenance != 0 {
			k.Maintenance = &api.Maintenance{Start: start + test.maintenance}
		}
		if test.drained != 0 {
			k.Drain = &api.Drain{Since: start + test.drained}
		}
		r := checkpoint.Request{Ends: test.ends, Since: test.since}
		k.Tell(&r, start)
		test.want.Hazard = hazard
		if diff := cmp.Diff(test.want, r); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// FuzzCache: whatever a cache has, it is refused, or has an advice.
func FuzzCache(f *testing.F) {
	f.Add([]byte(`{"nodes":"n[1-2]","read":1795266000,"risk":{"at":1,"since":1,"failures":3,"nodes":2,"within":[{"within":3600,"failures":0.01}],"rate":1e-6,"maintenance":{"name":"m","start":1795267000},"drain":{"node":"n1","since":5}}}`))
	f.Add([]byte(`{"risk":{"within":[{"within":1,"failures":1e300}]}}`))
	f.Add([]byte(`{"tried":-1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := parseEntry(text)
		if err != nil || e.Risk == nil {
			return
		}
		k := Known{Risk: *e.Risk, Read: e.Read}
		r := checkpoint.Request{Cost: 60, Interval: 600, Since: 3600}
		k.Tell(&r, start)
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		checkpoint.Advise(&r)
	})
}

// BenchmarkCached is advice from the cache.
func BenchmarkCached(b *testing.B) {
	v := &varqd{}
	f, _ := finder(b, v)
	if _, err := f.Find(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		k, err := f.Find(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		r := checkpoint.Request{Cost: 720, Interval: 3600, Since: 10800}
		k.Tell(&r, start)
		checkpoint.Advise(&r)
	}
	if v.asked != 1 {
		b.Errorf("varqd was asked %d times", v.asked)
	}
}
