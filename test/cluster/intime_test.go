package cluster

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// recorder is a test that may fail without failing the one that records it.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Fatalf(string, ...any) {
	r.failed = true
	runtime.Goexit()
}

func TestInTime(t *testing.T) {
	slow := &Cluster{took: 2 * quickStart}
	for _, test := range []struct {
		inTime int // the round that is in time
		leads  []time.Duration
		fails  bool
	}{
		{1, []time.Duration{20 * time.Second}, false},
		{3, []time.Duration{20 * time.Second, time.Minute, 3 * time.Minute}, false},
		{4, []time.Duration{20 * time.Second, time.Minute, 3 * time.Minute}, true},
	} {
		r := &recorder{}
		var leads []time.Duration
		done := make(chan struct{})
		go func() {
			defer close(done)
			slow.InTime(r, 10*time.Second, func(lead time.Duration) bool {
				leads = append(leads, lead)
				return len(leads) == test.inTime
			})
		}()
		<-done
		if !slices.Equal(leads, test.leads) || r.failed != test.fails {
			t.Errorf("in time in round %d: leads %v, failed %t", test.inTime, leads, r.failed)
		}
	}
}
