package server

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// TestOlderVarq answers the requests of a varq of 2026-11-22, with all fields that there were then.
func TestOlderVarq(t *testing.T) {
	text, err := os.ReadFile("../../api/testdata/v1-2026-11-22.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded []struct {
		Method, URI     string
		Request, Answer json.RawMessage
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	f := start(t)
	for _, old := range recorded {
		status, body := ask(t, f.local, old.Method, "http://varqd"+old.URI, string(old.Request))
		if want := map[bool]int{true: http.StatusOK, false: http.StatusNoContent}[old.Answer != nil]; status != want {
			t.Errorf("%s %s: status %d, want %d: %s", old.Method, old.URI, status, want, body)
		}
	}
}

// A varq of another version of the API reads which one varqd speaks, in words and in a header.
func TestOtherVersions(t *testing.T) {
	f := start(t)
	for path, want := range map[string]string{
		"/v2/plans": "this varqd (devel) speaks v1 of its API only, and was asked in v2: upgrade varqd, or use the varq of its version",
		"/v1/never": "there is no POST /v1/never", "/v2": "there is no POST /v2", "/vx/plans": "there is no POST /vx/plans",
	} {
		if status, answer := f.post(path, "{}"); status != http.StatusNotFound || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s, want %q", path, status, answer, want)
		}
	}
	for _, path := range []string{"/v2/plans", api.PathHealth, api.PathLimits} {
		resp, err := f.local.Get("http://varqd" + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if apis, version := resp.Header.Get(api.APIs), resp.Header.Get(api.ServerVersion); apis != "v1" || version != api.Version {
			t.Errorf("%s: %q, %q", path, apis, version)
		}
	}
}
