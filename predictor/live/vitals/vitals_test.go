package vitals

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/live/statefile"
)

const start = int64(1_700_000_000)

func open(t *testing.T, path string) *sqlitefile.File {
	t.Helper()
	file, err := statefile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

func monitor(t *testing.T, file *sqlitefile.File) *Monitor {
	t.Helper()
	m, err := New(t.Context(), NewStore(file))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func fresh(t *testing.T) *Monitor {
	return monitor(t, open(t, filepath.Join(t.TempDir(), "ledger.db")))
}

// series tells a monitor of a signal every five minutes, and returns what is noticed.
func series(t *testing.T, m *Monitor, name string, values ...float64) (what []string) {
	t.Helper()
	for i, v := range values {
		now := start + int64(i)*300
		if err := m.Observe(t.Context(), "n1", []api.Signal{{Name: name, Of: "x", Value: v}}, now); err != nil {
			t.Fatal(err)
		}
	}
	_, noticed := m.Of("n1")
	for _, e := range noticed {
		what = append(what, fmt.Sprint(e.Kind, ": ", e.What))
	}
	return what
}

func TestSignals(t *testing.T) {
	for _, name := range api.Signals() {
		if meanings[name].kind == "" {
			t.Errorf("%s means nothing", name)
		}
	}
	if len(meanings) != len(api.Signals()) {
		t.Error("something is not a signal")
	}
	calm := make([]float64, 100)
	for i := range calm {
		calm[i] = 40 + float64(i%3)
	}
	for _, c := range []struct {
		name   string
		values []float64
		want   []string
	}{
		{api.SignalMemoryCorrected, []float64{7}, nil}, // before anybody looked
		{api.SignalMemoryCorrected, []float64{7, 7, 7}, nil},
		{api.SignalMemoryCorrected, []float64{7, 7, 9}, []string{"corrected memory errors: memory_errors_corrected of x has grown from 7 to 9"}},
		// once
		{api.SignalMemoryCorrected, []float64{0, 1, 2, 3, 4}, []string{"corrected memory errors: memory_errors_corrected of x has grown from 0 to 1"}},
		{api.SignalDisk, []float64{7, 0, 0}, nil}, // booted
		{api.SignalDisk, []float64{7, 2, 3}, []string{"disk errors: disk_errors of x has grown from 2 to 3"}},
		{api.SignalReadOnly, []float64{0, 0, 1}, []string{"disk errors: read_only of x has grown from 0 to 1"}},
		{api.SignalReadOnly, []float64{1, 1}, nil}, // as it is meant to be
		{api.SignalTaint, []float64{0, 1}, []string{"kernel trouble: kernel_taint of x has grown from 0 to 1"}},
		{api.SignalGPUXID, []float64{31, 31, 31}, nil},
		{api.SignalGPUXID, []float64{79, 0, 0}, nil},
		{api.SignalGPUXID, []float64{79, 31}, []string{"GPU errors: gpu_xid of x is 31"}},
		{api.SignalTemperature, calm, nil},
		{api.SignalTemperature, append(calm, 95), []string{"overheating: temperature of x is 95 °C, far above its trend"}},
		{api.SignalTemperature, append(calm, 0), nil},
		{api.SignalTemperature, []float64{40, 95}, nil},
		{api.SignalLoad, append(make([]float64, 100), 1), nil}, // a job starts
		{api.SignalLoad, append(make([]float64, 100), 90), []string{"unusual load: load of x is 90 a processor, far above its trend"}},
	} {
		if diff := cmp.Diff(c.want, series(t, fresh(t), c.name, c.values...)); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", c.name, c.values, diff)
		}
	}
}

// TestQuiet: of a node and kind one event is noticed in six hours, by the time of arrival, and it
// is told once, also after a restart. Kinds and nodes are apart.
func TestQuiet(t *testing.T) {
	file := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	m := monitor(t, file)
	told := map[fault.Event]int{}
	take := func() {
		for _, e := range m.Take() {
			told[e]++
		}
	}
	for i := range int64(13) { // an hour each
		if i == 5 {
			m = monitor(t, file)
			told = map[fault.Event]int{}
		}
		for _, node := range []string{"n1", "n2"} {
			signals := []api.Signal{{Name: api.SignalMemoryCorrected, Of: "mc0", Value: float64(i)}, {Name: api.SignalMemoryCorrected, Of: "mc1", Value: float64(2 * i)}}
			if node == "n1" {
				signals = append(signals, api.Signal{Name: api.SignalNetwork, Value: float64(i)})
			}
			if err := m.Observe(t.Context(), node, signals, start+3600*i); err != nil {
				t.Fatal(err)
			}
		}
		take()
	}
	want := map[fault.Event]int{}
	for _, hour := range []int64{1, 7} {
		at := start + hour*3600
		for _, e := range []fault.Event{{Node: "n1", Kind: corrected, At: at}, {Node: "n2", Kind: corrected, At: at}, {Node: "n1", Kind: network, At: at}} {
			want[e] = 1
		}
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	heard, noticed := m.Of("n1")
	if heard != start+12*3600 || len(noticed) != 4 || noticed[0].At != start+7*3600 {
		t.Errorf("heard at %d, %+v", heard, noticed)
	}
	if heard, noticed = m.Of("n3"); heard != 0 || noticed != nil {
		t.Errorf("of a node that was never heard: %d, %v", heard, noticed)
	}
	m.Keep([]string{"n2"})
	if heard, noticed = m.Of("n1"); heard != 0 || noticed != nil {
		t.Error("a node that Slurm does not know is remembered")
	}
	if heard, _ = m.Of("n2"); heard == 0 {
		t.Error("a node that Slurm knows is forgotten")
	}
}

// TestClockGoesBack: a clock that was far ahead does not silence a node.
func TestClockGoesBack(t *testing.T) {
	m := fresh(t)
	for i, now := range []int64{start + 900*86400, start + 900*86400 + 300, start} {
		if err := m.Observe(t.Context(), "n1", []api.Signal{{Name: api.SignalDisk, Value: float64(i)}}, now); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(m.Take()); n != 2 {
		t.Errorf("%d events", n)
	}
}

// TestBounds: whatever an agent sends, what is kept and stored of it is bounded.
func TestBounds(t *testing.T) {
	file := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	m := monitor(t, file)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range int64(20) {
		var signals []api.Signal
		for k := range api.MaxSignals {
			signals = append(signals, api.Signal{Name: api.Signals()[k%len(api.Signals())], Of: fmt.Sprint(k, r.IntN(100)), Value: 1e19 * r.Float64()})
		}
		if err := m.Observe(t.Context(), "n1", signals, start+i*7*3600); err != nil {
			t.Fatal(err)
		}
	}
	n := m.nodes["n1"]
	if len(n.readings) != mostReadings || len(n.noticed) != mostNoticed || len(n.last) > len(Kinds()) {
		t.Errorf("%d readings, %d noticed, %d kinds", len(n.readings), len(n.noticed), len(n.last))
	}
	err := file.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`WITH RECURSIVE at(t) AS (SELECT ? UNION ALL SELECT t+1 FROM at LIMIT ?) INSERT INTO vitals_noticed SELECT 'n2', 'x', t, 'y' FROM at`, start, mostStored+100)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range []int64{start + 86400, start + longest + mostStored} {
		if err := m.store.add(t.Context(), "n1", []api.Noticed{{At: now, Kind: disk}}, now); err != nil {
			t.Fatal(err)
		}
		var n, oldest int64
		if err := file.QueryRow(`SELECT count(*), min(at) FROM vitals_noticed`).Scan(&n, &oldest); err != nil {
			t.Fatal(err)
		}
		if n > mostStored || oldest < now-longest {
			t.Errorf("%d are stored, from %d days ago on", n, (now-oldest)/86400)
		}
	}
}

// BenchmarkObserve is a message of a node with many parts.
func BenchmarkObserve(b *testing.B) {
	m := &Monitor{nodes: map[string]*node{}}
	var signals []api.Signal
	for i := range 60 {
		signals = append(signals, api.Signal{Name: api.Signals()[i%len(api.Signals())], Of: fmt.Sprint(i), Value: 1})
	}
	now := start
	for b.Loop() {
		now += 300
		m.observe("n1", signals, now)
	}
}
