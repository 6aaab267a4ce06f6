package server

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
)

// slowMetric is a metric that takes until release.
type slowMetric struct {
	release chan struct{}
	mu      sync.Mutex
	now     int // how many are being collected
	most    int
}

func (*slowMetric) Describe(chan<- *prometheus.Desc) {}

func (m *slowMetric) Collect(chan<- prometheus.Metric) {
	m.mu.Lock()
	m.now++
	m.most = max(m.most, m.now)
	m.mu.Unlock()
	<-m.release
	m.mu.Lock()
	m.now--
	m.mu.Unlock()
}

func (m *slowMetric) collecting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Metrics are for everybody, but not so many at once, and users do not wait for them.
func TestManyReadTheMetrics(t *testing.T) {
	slow := &slowMetric{release: make(chan struct{})}
	f := startWith(t, readTime, slow)
	var reading sync.WaitGroup
	for range 50 {
		reading.Go(func() {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			if status, _ := ask(t, &http.Client{Transport: transport}, "GET", "http://"+f.address+api.PathMetrics, ""); status != 200 {
				t.Errorf("HTTP status %d", status)
			}
		})
	}
	for end := time.Now().Add(5 * time.Minute); slow.collecting() < maxOpenOfOne; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody reads the metrics")
		}
	}
	for range 20 {
		if status, answer := f.post(api.PathPlan, `{"begin_by":1800000000}`); status != 200 {
			t.Errorf("%d %s", status, answer)
		}
	}
	close(slow.release)
	reading.Wait()
	if slow.most != maxOpenOfOne {
		t.Errorf("%d at once", slow.most)
	}
}
