package client

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
)

// serve answers on a unix socket and returns its endpoint.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	s.Start()
	t.Cleanup(s.Close)
	return "unix://" + path
}

func TestRequests(t *testing.T) {
	var asked []string
	c, err := New(serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI())
		switch r.URL.Path {
		case api.PathBind:
			w.WriteHeader(http.StatusNoContent)
		case api.PathReservations:
			_, _ = w.Write([]byte(`[{"job":7}]`))
		case api.PathHealth:
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"ok":false,"problems":["no history"]}`))
		default:
			_, _ = w.Write([]byte(`{}`))
		}
	}), "")
	if err != nil {
		t.Fatal(err)
	}
	c.Timeout = 5 * time.Minute
	ctx := t.Context()
	list, err := c.Reservations(ctx, api.ReservationsQuery{User: "*", Job: 7, All: true, Selection: api.Selection{Accounts: []string{"chem", "phys"}, States: []string{"KEPT"}}})
	if err != nil || len(list) != 1 || list[0].Job != 7 {
		t.Errorf("%v, %v", list, err)
	}
	if h, err := c.Health(ctx); err != nil || h.OK || len(h.Problems) != 1 {
		t.Errorf("%v, %v", h, err)
	}
	_, err1 := c.Plan(ctx, api.PlanRequest{})
	_, err2 := c.Quote(ctx, api.PlanRequest{})
	_, err3 := c.Report(ctx, api.ReportQuery{By: "month", Selection: api.Selection{Start: 5, Partitions: []string{"gpu"}, Names: []string{"fit a"}}})
	_, err5 := c.Calibration(ctx, api.CalibrationQuery{By: "class", End: 9, Forecaster: "blend", Partition: "gpu", Class: "nodes=1"})
	_, err6 := c.NodesCalibration(ctx, api.NodesCalibrationQuery{Start: 3, End: 9})
	_, err4 := c.Predict(ctx, api.PredictRequest{})
	if err := errors.Join(err1, err2, err3, err4, err5, err6, c.Bind(ctx, api.Binding{})); err != nil {
		t.Error(err)
	}
	want := []string{
		"GET /v1/reservations?account=chem%2Cphys&all=true&job=7&state=KEPT&user=%2A", "GET /healthz", "POST /v1/plans", "POST /v1/quotes",
		"GET /v1/report?by=month&name=fit+a&partition=gpu&start=5", "GET /v1/calibration?by=class&class=nodes%3D1&end=9&forecaster=blend&partition=gpu", "GET /v1/nodes/calibration?end=9&start=3", "POST /v1/predict", "POST /v1/bindings",
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

// A list comes in several answers, whose ends the client joins; one that knows no place in it has
// answered all at once.
func TestReservationsInPages(t *testing.T) {
	page := func(from, to int) []byte {
		list := []api.Reservation{}
		for i := from; i < to; i++ {
			list = append(list, api.Reservation{Job: int64(i), Plan: api.Plan{ID: "aaaaaaaaaaaa", BeginBy: int64(i)}})
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, c := range map[string]struct {
		answers map[string]string // by before
		first   int64             // 0 for an error
	}{
		"a few":           {map[string]string{"": string(page(951, 1000))}, 951},
		"pages":           {map[string]string{"": string(page(800, 1000)), "800,aaaaaaaaaaaa": string(page(500, 800)), "500,aaaaaaaaaaaa": string(page(450, 500))}, 450},
		"a whole page":    {map[string]string{"": string(page(800, 1000)), "800,aaaaaaaaaaaa": "[]"}, 800},
		"an earlier one":  {map[string]string{"": string(page(1, 1000)), "1,aaaaaaaaaaaa": `before: no such parameter`}, 1},
		"the same again":  {map[string]string{"": string(page(800, 1000)), "800,aaaaaaaaaaaa": string(page(800, 1000))}, 0},
		"refused in part": {map[string]string{"": string(page(800, 1000)), "800,aaaaaaaaaaaa": "no"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			varqd, err := New(serve(t, func(w http.ResponseWriter, r *http.Request) {
				answer, ok := c.answers[r.URL.Query().Get(api.ParamBefore)]
				switch {
				case !ok:
					t.Errorf("asked for %s", r.URL)
				case answer[0] != '[':
					w.WriteHeader(http.StatusBadRequest)
					answer = `{"error":"` + answer + `"}`
				}
				_, _ = w.Write([]byte(answer))
			}), "")
			if err != nil {
				t.Fatal(err)
			}
			varqd.Timeout = 5 * time.Minute
			list, err := varqd.Reservations(t.Context(), api.ReservationsQuery{})
			switch {
			case c.first == 0:
				if err == nil {
					t.Errorf("%d without an error", len(list))
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			for i, r := range list {
				if r.Job != c.first+int64(i) || i == 0 && len(list) != int(1000-c.first) {
					t.Fatalf("%d of %d is %d", i, len(list), r.Job)
				}
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"in words": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":"begin_by: 0 is not a time"}`))
		}, "begin_by: 0 is not a time"},
		"without":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "502 Bad Gateway"},
		"nonsense":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) }, "not an answer"},
		"cut short": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "not reachable"},
		"never coming": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or the server would not notice the disconnect
			<-r.Context().Done()
		}, "no answer within 2s"},
		"never complete": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = w.Write([]byte(`{"plan"`))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "no answer within 2s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := New(serve(t, test.answer), "")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(name, "never") {
				c.Timeout = 5 * time.Minute
			}
			if _, err := c.Plan(t.Context(), api.PlanRequest{}); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v; wanted it to say %q", err, test.says)
			}
		})
	}
	c, err := New("unix:///nowhere/varqd.sock", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Health(t.Context()); !errors.Is(err, ErrUnreachable) || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "/nowhere/varqd.sock") {
		t.Error(err)
	}
}

func TestEndpoints(t *testing.T) {
	for _, endpoint := range []string{"", "unix://relative", "tcp://host", "tcp://", "http://host:1", "/run/varq/varqd.sock"} {
		if _, err := New(endpoint, ""); err == nil || !strings.Contains(err.Error(), "endpoint") {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
	if _, err := New("tcp://[::1]:7900", ""); err != nil {
		t.Error(err)
	}
}

// An answer of another site's is no larger than its question needs.
func TestLargeAnswers(t *testing.T) {
	c, err := New(serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case api.PathGroupStates:
			_, _ = w.Write([]byte(`[{"group":"aaaaaaaaaaaa","why":"` + strings.Repeat("x", 1<<20) + `"}]`))
		case api.PathDelays:
			_, _ = w.Write([]byte(`{"windows":[` + strings.Repeat(`{"hour":1},`, 1<<17) + `{}]}`))
		default:
			_, _ = w.Write([]byte(`{"answer":"lost","why":"` + strings.Repeat("x", 1<<20) + `"}`))
		}
	}), "")
	if err != nil {
		t.Fatal(err)
	}
	c.Timeout = 5 * time.Minute
	ctx := t.Context()
	_, claim := c.ClaimGroup(ctx, api.GroupClaim{})
	_, gate := c.Gate(ctx, api.Gate{})
	_, states := c.GroupStates(ctx, api.GroupsQuery{Groups: []string{"aaaaaaaaaaaa"}})
	_, members := c.GroupStates(ctx, api.GroupsQuery{Groups: []string{"aaaaaaaaaaaa"}, Members: true})
	_, delays := c.Delays(ctx)
	for name, err := range map[string]error{"claim": claim, "gate": gate, "states": states, "members": members, "delays": delays} {
		if err == nil || !strings.Contains(err.Error(), "answers with more than ") {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

// Where nothing is asked for but whether all went well, a long answer is not read to its end.
func TestLongRefusal(t *testing.T) {
	c, err := New(serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 4*maxOne))
	}), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Vitals(t.Context(), api.Vitals{Node: "n1"}); err == nil || !strings.Contains(err.Error(), "answers with more than 65536 bytes") {
		t.Error(err)
	}
}

// A plan for one of several sizes may take as long as a probe.
func TestTimeForSizes(t *testing.T) {
	c, err := New("unix:///nowhere", "")
	if err != nil {
		t.Fatal(err)
	}
	several := []api.Size{{Limit: 60}, {Limit: 120}}
	for n, want := range []time.Duration{DefaultTimeout, DefaultTimeout, probeTimeout} {
		if got := c.timeFor(&api.PlanRequest{Sizes: several[:n]}); got != want {
			t.Errorf("%d sizes may take %v, and should %v", n, got, want)
		}
	}
}

// A varqd that is to relay is told for how long its answer is waited for, which is a little longer
// than the other site's. A promise of a flow may take as long as varqd works on it.
func TestRelayedInTime(t *testing.T) {
	var within string
	stop := make(chan struct{})
	c, err := New(serve(t, func(w http.ResponseWriter, r *http.Request) {
		within = r.Header.Get(api.Within)
		if r.URL.Path == api.PathRelay+"beta"+api.PathPlan {
			<-stop
		}
		_, _ = w.Write([]byte(`{}`))
	}), "")
	if err != nil {
		t.Fatal(err)
	}
	defer close(stop)
	c.Timeout, c.Site = 5*time.Minute, "beta"
	if _, err := c.Health(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ms, err := strconv.Atoi(within); err != nil || ms <= 0 || ms > 300_000 {
		t.Errorf("it is told %q", within)
	}
	c.Timeout = time.Millisecond
	if _, err := c.PromiseFlow(t.Context(), api.FlowRequest{}); err != nil {
		t.Fatal(err)
	}
	if ms, err := strconv.Atoi(within); err != nil || ms <= int(probeTimeout.Milliseconds()) {
		t.Errorf("of a flow it is told %q", within)
	}
	if _, err := c.Plan(t.Context(), api.PlanRequest{}); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), ", which is to relay to site beta: no answer within 1.001s") {
		t.Error(err)
	}
}
