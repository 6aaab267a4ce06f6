package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// exchange is a request of a varq and the answer of a varqd, both recorded.
type exchange struct {
	Method  string          `json:"method"`
	URI     string          `json:"uri"`
	Request json.RawMessage `json:"request"`
	Answer  json.RawMessage `json:"answer"`
}

// TestOlderVarqd reads the answers of a varqd of 2026-11-22, with all fields that there were then.
func TestOlderVarqd(t *testing.T) {
	text, err := os.ReadFile("../../api/testdata/v1-2026-11-22.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded []exchange
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	var old exchange
	var asked string
	c, err := New(serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.Method + " " + r.URL.Path
		if len(body) > 0 && !json.Valid(body) {
			t.Errorf("%s asks with %q", asked, body)
		}
		if old.Answer == nil {
			w.WriteHeader(http.StatusNoContent)
		}
		_, _ = w.Write(old.Answer)
	}), "")
	if err != nil {
		t.Fatal(err)
	}
	c.Timeout = 5 * time.Minute
	ctx := t.Context()
	for _, old = range recorded {
		var got any
		var err error
		path, _, _ := strings.Cut(old.URI, "?")
		switch path {
		case api.PathPlan:
			got, err = c.Plan(ctx, api.PlanRequest{})
		case api.PathQuote:
			got, err = c.Quote(ctx, api.PlanRequest{})
		case api.PathBind:
			err = c.Bind(ctx, api.Binding{})
		case api.PathCancel:
			err = c.Cancel(ctx, api.Cancellation{})
		case api.PathAccept:
			got, err = c.Accept(ctx, api.Acceptance{})
		case api.PathReservations:
			got, err = c.Reservations(ctx, api.ReservationsQuery{})
		case api.PathLimits:
			got, err = c.Limits(ctx)
		case api.PathReport:
			got, err = c.Report(ctx, api.ReportQuery{})
		case api.PathCalibration:
			got, err = c.Calibration(ctx, api.CalibrationQuery{})
		case api.PathShadow:
			got, err = c.Shadow(ctx, api.ShadowQuery{})
		case api.PathPredict:
			got, err = c.Predict(ctx, api.PredictRequest{})
		case api.PathHealth:
			got, err = c.Health(ctx)
		default:
			t.Errorf("nobody asks for %s", path)
		}
		if want := old.Method + " " + path; err != nil || asked != want {
			t.Errorf("%s was asked, and not %s: %v", asked, want, err)
		}
		if old.Answer == nil {
			continue
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		for _, lost := range lacks("", parse(t, again), parse(t, old.Answer)) {
			t.Errorf("%s: the answer's %s is lost", path, lost)
		}
	}
}

func parse(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// lacks names the fields of want that got has not, or not with the same value.
func lacks(name string, got, want any) (lost []string) {
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		for key, value := range want {
			lost = append(lost, lacks(name+"."+key, got[key], value)...)
		}
	case []any:
		got, _ := got.([]any)
		for i, value := range want {
			if i >= len(got) {
				return append(lost, name)
			}
			lost = append(lost, lacks(fmt.Sprintf("%s[%d]", name, i), got[i], value)...)
		}
	default:
		if !reflect.DeepEqual(got, want) {
			lost = append(lost, name)
		}
	}
	return lost
}

// What differs between varq and varqd is told where it matters, and only there.
func TestVersions(t *testing.T) {
	now := api.Version
	defer func() { api.Version = now }()
	api.Version = "2.1.0"
	for name, test := range map[string]struct {
		apis, version string
		status        int
		error, says   string // says "" stands for error itself
	}{
		"another API": {"v2, v3", "9.0.0", http.StatusNotFound, "there is no POST /v1/plans", "speaks v2, v3 of its API only, and this varq (2.1.0) v1: upgrade varq on this host"},
		"more APIs":   {"v1, v2", "9.0.0", http.StatusConflict, "no", ""},
		"no such path": {"v1", "2.0.0", http.StatusNotFound, "there is no POST /v1/plans",
			"there is no POST /v1/plans; varqd at ENDPOINT does not know what this varq (2.1.0) asks, as it is version 2.0.0: upgrade varqd, or leave out the option that is new"},
		"no such field": {"v1", "2.0.0", http.StatusBadRequest, "max_cost: no such field",
			"max_cost: no such field; varqd at ENDPOINT does not know what this varq (2.1.0) asks, as it is version 2.0.0: upgrade varqd, or leave out the option that is new"},
		"before versions were told": {"", "", http.StatusBadRequest, "max_cost: no such field",
			"max_cost: no such field; varqd at ENDPOINT does not know what this varq (2.1.0) asks, as it is of an earlier version: upgrade varqd, or leave out the option that is new"},
		"the same version":   {"v1", "2.1.0", http.StatusBadRequest, "max_cost: no such field", ""},
		"another thing gone": {"v1", "2.0.0", http.StatusNotFound, "you have no such plan", ""},
		"what is not text":   {"\u009b1m", "\u009b", http.StatusNotFound, "no", "(?) speaks ?1m of its API only"},
	} {
		endpoint := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			for header, value := range map[string]string{api.APIs: test.apis, api.ServerVersion: test.version} {
				if value != "" {
					w.Header()[header] = []string{value}
				}
			}
			w.WriteHeader(test.status)
			var body bytes.Buffer
			_ = json.NewEncoder(&body).Encode(api.Error{Error: test.error})
			_, _ = w.Write(body.Bytes())
		})
		c, err := New(endpoint, "")
		if err != nil {
			t.Fatal(err)
		}
		c.Timeout = 5 * time.Minute
		_, err = c.Plan(t.Context(), api.PlanRequest{})
		want := strings.ReplaceAll(test.says, "ENDPOINT", endpoint)
		if err == nil || want == "" && err.Error() != test.error || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
