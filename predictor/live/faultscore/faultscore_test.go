package faultscore

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/live/statefile"
)

// start is the beginning of day 20000.
const start = 20_000 * 86400

// site is a site on which a scorer looks at the nodes.
type site struct {
	*testing.T
	path   string
	scorer *Scorer
	now    int64
	known  int64
	nodes  []string
	says   map[string]map[string]float64 // by forecaster and node: failures expected
	failed []fault.Event                 // since the last look
	sets   []Set
}

func newSite(t *testing.T, nodes ...string) *site {
	t.Helper()
	s := &site{T: t, path: filepath.Join(t.TempDir(), "ledger.db"), now: start, known: start, nodes: nodes, says: map[string]map[string]float64{}}
	for _, forecaster := range []string{Blend, constant} {
		for _, node := range nodes {
			s.say(forecaster, node, .1)
		}
	}
	s.open()
	return s
}

// open opens the file, as varqd does when it starts.
func (s *site) open() {
	s.Helper()
	file, err := statefile.Open(s.path)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { file.Close() })
	store := NewStore(file)
	s.scorer, err = New(s.Context(), Options{
		Store: store, Rand: rand.New(rand.NewPCG(1, 1)),
		Metrics: NewMetrics(prometheus.NewRegistry(), Reader{store}, func() int64 { return s.now }, slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		s.Fatal(err)
	}
}

func (s *site) say(forecaster, node string, expected float64) {
	if s.says[forecaster] == nil {
		s.says[forecaster] = map[string]float64{}
	}
	s.says[forecaster][node] = expected
}

func (s *site) fail(node string, at int64) {
	s.failed = append(s.failed, fault.Event{Node: node, At: at})
}

func (s *site) observe(ctx context.Context) error {
	err := s.scorer.Observe(ctx, Look{At: s.now, Nodes: s.nodes, Failed: s.failed, Known: s.known, Forecast: func() Forecasts {
		f := Forecasts{Nodes: slices.Clone(s.nodes), Expected: map[string][]float64{}, Sets: s.sets}
		for forecaster, says := range s.says {
			for _, node := range s.nodes {
				f.Expected[forecaster] = append(f.Expected[forecaster], says[node])
			}
		}
		return f
	}})
	s.failed = nil
	return err
}

// look looks at the nodes every minute until a time after start.
func (s *site) look(until int64) {
	s.Helper()
	for ; s.now <= start+until; s.now += 60 {
		if err := s.observe(s.Context()); err != nil {
			s.Fatal(err)
		}
	}
}

// rows returns the calibration by forecaster.
func (s *site) rows() map[string]api.NodesCalibrationRow {
	s.Helper()
	c, err := Reader{s.scorer.Store}.NodesCalibration(s.Context(), api.NodesCalibrationQuery{})
	if err != nil {
		s.Fatal(err)
	}
	rows := map[string]api.NodesCalibrationRow{}
	for _, row := range c.Rows {
		rows[row.Forecaster] = row
	}
	return rows
}

func (s *site) rounds() (list []string) {
	s.Helper()
	err := sqlitefile.Each(s.Context(), s.scorer.Store.db, `SELECT round FROM fault_rounds ORDER BY at`, nil, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		list = append(list, text)
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return list
}

const hour = 3600

// A forecast is scored when its day is over, once, also if varqd is killed again and again.
func TestScores(t *testing.T) {
	for name, restart := range map[string]bool{"steady": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "a", "b", "c")
			s.say(Blend, "a", .5)
			s.say(Blend, "b", .05)
			step := func(until int64) {
				s.look(until)
				if restart {
					s.open()
				}
			}
			step(8 * hour) // rounds at 0 and 6
			s.fail("a", start+7*hour)
			step(24*hour + settled - 60)
			if rows := s.rows(); len(rows) != 0 {
				t.Fatalf("scored before the day is over: %+v", rows)
			}
			s.nodes = []string{"a", "b"} // c is gone
			step(25 * hour)
			row := s.rows()[Blend]
			gain := fault.Loss(.1, true) + fault.Loss(.1, false) - fault.Loss(.5, true) - fault.Loss(.05, false)
			want := api.NodesCalibrationRow{
				Forecaster: Blend, Forecasts: 2, Failed: 1, Expected: -math.Expm1(-.5) - math.Expm1(-.05), Gain: gain,
				Ahead: []api.Warning{{}, {Lead: 6 * hour}, {Lead: 24 * hour}, {Lead: 168 * hour}},
			}
			row.Reliability = nil
			if diff := cmp.Diff(want, row, cmp.Transformer("rounded", func(f float64) string { return fmt.Sprintf("%.6f", f) })); diff != "" {
				t.Error("the first round: ", diff)
			}
			// From now on a is above the alarm level. Its failure at 7 was one, unannounced; at 60
			// it is announced 36 hours ahead.
			step(60*hour + 1800)
			s.fail("a", start+60*hour)
			step(61 * hour)
			s.fail("b", start+61*hour)
			step(100 * hour)
			row = s.rows()[Blend]
			if row.Failures != 3 || row.Ahead[0].Share != 1./3 || row.Ahead[2].Share != 1./3 || row.Ahead[3].Share != 0 || row.Alarms == 0 || row.Precision <= 0 || row.Precision >= 1 {
				t.Errorf("%+v", row)
			}
			if n := s.rows()[constant].Gain; n != 0 {
				t.Errorf("the constant gains %v over itself", n)
			}
			if n := len(s.rounds()); n != 4 {
				t.Errorf("%d rounds are kept", n)
			}
		})
	}
}

// A set fails if one of its nodes does, and is left out if one of them is gone.
func TestSets(t *testing.T) {
	s := newSite(t, "a", "b", "c")
	s.sets = []Set{{[]string{"a", "b"}, .3}, {[]string{"b", "c"}, .1}, {[]string{"a", "gone"}, 1}}
	s.look(hour)
	s.fail("a", start+hour)
	s.look(25 * hour)
	row := s.rows()[Sets]
	loss := -math.Log(.3) - math.Log(.9)
	constant := fault.Loss(2*.1, true) + fault.Loss(2*.1, false)
	if row.Forecasts != 2 || row.Failed != 1 || math.Abs(row.Expected-.4) > 1e-9 || math.Abs(row.Gain-constant+loss) > 1e-6 || row.Alarms+row.Failures != 0 {
		t.Errorf("%+v", row)
	}
}

// What varqd cannot know is not scored as if nothing had happened.
func TestGap(t *testing.T) {
	s := newSite(t, "a")
	s.look(hour)
	s.known, s.now = 0, start+30*hour // varqd was down, and accounting does not answer yet
	s.look(31 * hour)
	if first, ok := s.scorer.Over(s.now); !ok || first != start || len(s.rows()) != 0 {
		t.Errorf("over since %d, %v; %v", first, ok, s.rows())
	}
	s.known = start + 30*hour // nor will it
	s.look(60 * hour)
	if got := s.rows()[Blend].Forecasts; got != 1 { // of the round at 30
		t.Errorf("%d forecasts are scored", got)
	}
}

// A clock that was ahead leaves no forecasts in the future, and stops nothing.
func TestClockGoesBack(t *testing.T) {
	s := newSite(t, "a")
	s.now = start + 1000*hour
	s.look(1001 * hour)
	s.now = start
	s.look(25 * hour)
	if got := s.rows()[Blend].Forecasts; got != 1 || len(s.rounds()) != 4 {
		t.Errorf("%d forecasts are scored, %d rounds kept", got, len(s.rounds()))
	}
}

// What is said at a time, and the alarm levels, do not depend on what comes later.
func TestNoLookAhead(t *testing.T) {
	var rounds [2][]string
	for future := range rounds {
		s := newSite(t, "a", "b", "c", "d")
		s.say(Blend, "a", .3)
		r := rand.New(rand.NewPCG(3, 3))
		for h := range int64(100) {
			s.look(h * hour)
			node, at := s.nodes[r.IntN(4)], start+h*hour+100
			if h%5 == 0 && (h < 70 || future == 0) {
				s.fail(node, at)
			}
			if h == 72 {
				rounds[future] = s.rounds()
			}
		}
		if len(s.rows()) == 0 {
			t.Error("nothing is scored")
		}
	}
	if diff := cmp.Diff(rounds[0], rounds[1]); diff != "" || len(rounds[0]) != 5 {
		t.Errorf("%d rounds: %s", len(rounds[0]), diff)
	}
}

// The site's own forecasters have as large a part as they deserve. One that does not answer neither
// gains nor loses.
func TestParts(t *testing.T) {
	s := newSite(t, "a", "b", "c", "d")
	for _, node := range s.nodes {
		s.say(Model, node, .1)
		s.say("nonsense", node, 5)
		s.say("good", node, .001)
		s.say("mute", node, -1)
	}
	s.say("good", "a", .9)
	if part := s.scorer.Part("good"); part != newcomer {
		t.Errorf("a newcomer has a part of %g", part)
	}
	for d := range int64(30) {
		s.fail("a", start+d*24*hour+7*hour)
		s.look((d + 1) * 24 * hour)
	}
	s.open()
	good, mute, nonsense := s.scorer.Part("good"), s.scorer.Part("mute"), s.scorer.Part("nonsense")
	if !(good > .9 && nonsense < newcomer && mute < .1 && good+mute+nonsense < 1) {
		t.Errorf("parts: good %g, mute %g, nonsense %g", good, mute, nonsense)
	}
	rows := s.rows()
	if _, ok := rows["mute"]; ok || rows["good"].Gain <= rows["nonsense"].Gain || len(rows) != 5 {
		t.Errorf("%+v", rows)
	}
	r := newRound(start, Forecasts{Nodes: []string{"a", "b", "gone"}, Expected: map[string][]float64{Blend: {.2, .1, 9}, "mute": {-1, -1, -1}}}, nil, nil)
	for voter, loss := range r.losses([]string{"mute", "absent"}, map[string]bool{"a": true, "b": true}, map[string]int64{"a": start}) {
		if want := fault.Loss(.2, true) + .1; math.Abs(loss-want) > 1e-6 {
			t.Errorf("voter %d says nothing and loses %g, want %g as the blend", voter, loss, want)
		}
	}
	delete(s.says, "good")
	s.look(32 * 24 * hour)
	if part := s.scorer.Part("good"); part != newcomer {
		t.Errorf("one that is no longer configured has a part of %g", part)
	}
}

// While the disk is full nothing is scored, and no failure is forgotten.
func TestFullDisk(t *testing.T) {
	s := newSite(t, "a", "b")
	s.look(hour)
	full, cancel := context.WithCancel(t.Context())
	cancel()
	s.fail("a", start+hour)
	if err := s.observe(full); err == nil {
		t.Error("no error")
	}
	s.now = start + 26*hour
	if err := s.observe(full); err == nil || len(s.rows()) != 0 {
		t.Errorf("%v, %v", err, s.rows())
	}
	s.look(27 * hour)
	if row := s.rows()[Blend]; row.Failed != 1 || row.Forecasts != 2 {
		t.Errorf("%+v", row)
	}
}

// A round or scores that somebody has garbled are left out.
func TestGarbled(t *testing.T) {
	s := newSite(t, "a")
	s.look(hour)
	for _, text := range []string{"", "{", `{"at":1,"nodes":["a"],"said":{"blend":{"expected":[1]},"constant":{"expected":[]}}}`, `{"nodes":["a"],"said":{}}`} {
		if _, err := s.scorer.Store.db.Exec(`UPDATE fault_rounds SET round = ?`, text); err != nil {
			t.Fatal(err)
		}
		s.look((s.now-start)/hour*hour + 25*hour)
		if _, err := s.scorer.Store.db.Exec(`UPDATE fault_scores SET sums = 'x'`); err != nil {
			t.Fatal(err)
		}
	}
	s.look((s.now-start)/hour*hour + 72*hour)
	if row := s.rows()[Blend]; row.Forecasts == 0 {
		t.Errorf("nothing is scored any more: %+v", row)
	}
}

// Of a huge site a sample is forecast.
func TestSample(t *testing.T) {
	f := Forecasts{Expected: map[string][]float64{}}
	for i := range 100 {
		f.Nodes = append(f.Nodes, fmt.Sprint(i))
		f.Expected[Blend] = append(f.Expected[Blend], float64(i))
	}
	f.sample(100, 1, nil)
	if len(f.Nodes) != 100 {
		t.Errorf("%d nodes", len(f.Nodes))
	}
	f.Sets = make([]Set, 5)
	f.sample(10, 3, rand.New(rand.NewPCG(1, 1)))
	if len(f.Nodes) != 10 || len(f.Sets) != 3 || len(f.Expected[Blend]) != 10 || fmt.Sprint(f.Expected[Blend][3]) != f.Nodes[3] {
		t.Errorf("%+v", f)
	}
}

func TestMetrics(t *testing.T) {
	s := newSite(t, "a", "b")
	registry := prometheus.NewRegistry()
	store := s.scorer.Store
	s.scorer.Metrics = NewMetrics(registry, Reader{store}, func() int64 { return s.now }, slog.New(slog.DiscardHandler))
	s.look(hour)
	s.fail("a", start+hour)
	s.look(26 * hour)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, family := range families {
		m := family.GetMetric()[0]
		got[family.GetName()] = fmt.Sprintf("%.3g", m.GetGauge().GetValue()+m.GetCounter().GetValue())
	}
	want := map[string]string{
		"varq_fault_forecasts_scored_total": "2", "varq_fault_expected": "0.19", "varq_fault_failed": "1", "varq_fault_gain_nats": "0",
		"varq_fault_precision": "0", "varq_fault_recall": "0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
