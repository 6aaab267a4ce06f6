package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

const goodVitals = `{"node":"n1","at":1800000000,"signals":[{"name":"load","value":0.5},{"name":"disk_errors","of":"sda","value":3}]}`

// sendVitals sends a body over TCP, with a credential that root has made for it on a host.
func (f *fixture) sendVitals(body, host string) (int, string) {
	f.t.Helper()
	credential := fmt.Sprintf("Munge 0 %x %s", api.RequestDigest(http.MethodPost, api.PathVitals, []byte(body)), host)
	return ask(f.t, http.DefaultClient, http.MethodPost, "http://"+f.address+api.PathVitals, body, "Authorization", credential)
}

// TestVitalsOrigin: where a message comes from the connection tells, and the credential, unless it
// knows no address.
func TestVitalsOrigin(t *testing.T) {
	f := start(t)
	for _, c := range []struct{ host, want string }{
		{"127.0.1.1", "user0 [127.0.0.1] n1"},
		{"192.0.2.1", "user0 [127.0.0.1 192.0.2.1] n1"},
	} {
		if status, answer := f.sendVitals(goodVitals, c.host); status != http.StatusNoContent || f.service.users[len(f.service.users)-1] != c.want {
			t.Errorf("%d %s; the service sees %q, want %q", status, answer, f.service.users, c.want)
		}
	}
	status, answer := f.post(api.PathVitals, goodVitals)
	if want := fmt.Sprintf("user%d [::1] n1", os.Getuid()); status != http.StatusNoContent || f.service.users[2] != want {
		t.Errorf("%d %s; the service sees %q, want %q", status, answer, f.service.users[2], want)
	}
}

// TestVitalsReplayed: who overhears a message cannot send it again, nor another one with its
// credential.
func TestVitalsReplayed(t *testing.T) {
	f := start(t)
	for i, want := range []int{http.StatusNoContent, http.StatusUnauthorized} {
		if status, answer := f.sendVitals(goodVitals, "192.0.2.1"); status != want {
			t.Errorf("time %d: %d %s", i, status, answer)
		}
	}
	credential := fmt.Sprintf("Munge 0 %x", api.RequestDigest(http.MethodPost, api.PathVitals, []byte(goodVitals)))
	other := strings.Replace(goodVitals, "n1", "n2", 1)
	if status, _ := ask(t, http.DefaultClient, http.MethodPost, "http://"+f.address+api.PathVitals, other, "Authorization", credential); status != http.StatusUnauthorized {
		t.Errorf("with the credential of another message: %d", status)
	}
	if len(f.service.users) != 1 {
		t.Errorf("the service sees %q", f.service.users)
	}
}

// TestVitalsTooLarge: of a message of 100 MB varqd reads no more than it may be large.
func TestVitalsTooLarge(t *testing.T) {
	f := start(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sent := &counter{left: 100 << 20}
	req, err := http.NewRequest(http.MethodPost, "http://"+f.address+api.PathVitals, sent)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err == nil { // the connection may be closed first
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d", resp.StatusCode)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 10<<20 || len(f.service.users) > 0 {
		t.Errorf("%d bytes are allocated; the service sees %q", grown, f.service.users)
	}
}

// counter is so many spaces.
type counter struct{ left int }

func (c *counter) Read(p []byte) (int, error) {
	n := min(len(p), c.left)
	if n == 0 {
		return 0, io.EOF
	}
	for i := range p[:n] {
		p[i] = ' '
	}
	c.left -= n
	return n, nil
}

// TestVitalsGarbage: what makes no sense is refused, and the error names it.
func TestVitalsGarbage(t *testing.T) {
	many := strings.Repeat(`{"name":"load","value":1},`, api.MaxSignals)
	with := func(signal string) string { return `{"node":"n1","at":1800000000,"signals":[` + signal + `]}` }
	for body, says := range map[string]string{
		"":                      "not valid JSON",
		"\x00\xff":              "not valid JSON",
		goodVitals + "{}":       "goes on",
		`{"node":"n1","x":1}`:   "x: no such field",
		`{"node":"","at":1}`:    "node: ",
		`{"node":"a\u001b[2J"}`: "node: ",
		`{"node":"` + strings.Repeat("n", api.MaxName+1) + `"}`: "node: ",
		`{"node":"n1","at":0}`:                                                            "at: ",
		`{"node":"n1","at":1e99}`:                                                         "at: ",
		`{"node":"n1","at":1,"signals":[]}`:                                               "signals: ",
		with(many + `{"name":"load","value":1}`):                                          "signals: ",
		with(`{"name":"mood","value":1}`):                                                 "signals[0].name: there is no signal",
		with(`{"name":"load","value":-1}`):                                                "signals[0].value: ",
		with(`{"name":"load","value":NaN}`):                                               "not valid JSON",
		with(`{"name":"load","value":"NaN"}`):                                             "a string does not fit",
		with(`{"name":"load","value":1e999}`):                                             "a number 1e999 does not fit",
		with(`{"name":"load","value":1e30}`):                                              "signals[0].value: ",
		with(`{"name":"load","of":"a\u0007","value":1}`):                                  "signals[0].of: ",
		with(`{"name":"load","of":"` + strings.Repeat("x", api.MaxOf+1) + `","value":1}`): "signals[0].of: ",
		with(`{"name":"load","value":1},{"name":"load","value":1}`):                       "signals[1].name: load is there twice",
	} {
		if _, err := read([]byte(body), (*api.Vitals).Check); !errors.Is(err, api.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80q: %v, want %q", body, err, says)
		}
	}
}

func FuzzDecodeVitals(f *testing.F) {
	f.Add([]byte(goodVitals))
	f.Add([]byte(`{"node":"n1","at":1,"signals":[{"name":"gpu_xid","of":"GPU-1","value":79},{"name":"load","value":1e-300}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		v, err := read(body, (*api.Vitals).Check)
		if err != nil {
			if !errors.Is(err, api.ErrInvalid) {
				t.Errorf("%q: %v is not the sender's fault", body, err)
			}
			return
		}
		bad := func(s api.Signal) bool {
			return !(s.Value >= 0 && s.Value <= 1<<64) || len(s.Of) > api.MaxOf || !slices.Contains(api.Signals(), s.Name)
		}
		if v.Node == "" || v.At <= 0 || len(v.Signals) == 0 || len(v.Signals) > api.MaxSignals || slices.ContainsFunc(v.Signals, bad) {
			t.Errorf("%q is taken for %+v", body, v)
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(again, (*api.Vitals).Check); err != nil {
			t.Errorf("%s: %v", again, err)
		}
	})
}
