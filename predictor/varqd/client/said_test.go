package client

import (
	"net/http"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// TestHostileAnswers: what another site says is told as one line without control characters, not at
// any length, and as what that site says.
func TestHostileAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"control characters": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"error":"\u001b[2Jgone\nvarq: promised"}`))
		}, "?[2Jgone?varq: promised"},
		"a refusal": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"error":"\u001b[2Jno\n"}`))
		}, "?[2Jno?"},
		"at any length": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"error":"` + strings.Repeat("x", 5000) + `"}`))
		}, strings.Repeat("x", 1000) + "..."},
		"another kind": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) },
			"varqd of site gamma answers what is not an answer: a JSON object is not what was asked for"},
		"another kind within": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`[{"job":"x"}]`)) },
			"varqd of site gamma answers what is not an answer: job cannot be a JSON string"},
	} {
		t.Run(name, func(t *testing.T) {
			varqd, err := New(serve(t, c.answer), "")
			if err != nil {
				t.Fatal(err)
			}
			varqd.Site = "gamma"
			if _, err := varqd.Reservations(t.Context(), api.ReservationsQuery{}); err == nil || err.Error() != c.want {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestNoHTTP(t *testing.T) {
	varqd, err := New(serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = conn.Write([]byte(strings.Repeat("\x00\xff", 2000) + "\n"))
		conn.Close()
	}), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := varqd.Health(t.Context()); err == nil || !strings.HasSuffix(err.Error(), ": what answers there does not speak HTTP") {
		t.Error(err)
	}
}
