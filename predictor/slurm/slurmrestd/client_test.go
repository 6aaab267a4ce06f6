package slurmrestd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

func TestChooseVersions(t *testing.T) {
	got, err := chooseVersions([]string{
		"/openapi/v3", "/slurm/v0.0.36/jobs", "/slurm/v0.0.38/jobs", "/slurm/v0.0.37/jobs", "/slurm/v0.0.46/jobs",
		"/slurmdb/v0.0.38/jobs", "/slurmdb/v0.0.40/jobs/", "/slurmdb/v1.0.44/x", "/slurm/v0.0.x/y", "/metrics",
	})
	check(t, got, versions{controller: 38, database: 40}, err)

	for want, served := range map[string][]string{
		"slurmrestd serves no /slurm API from v0.0.38 to v0.0.44":   {"/slurm/v0.0.36/jobs", "/slurmdb/v0.0.40/jobs"},
		"slurmrestd serves no /slurmdb API from v0.0.38 to v0.0.44": {"/slurm/v0.0.40/jobs"},
		"slurmrestd serves the /slurm API from v0.0.45 on, and this varq reads it up to v0.0.44: let slurmrestd serve a version before (its option -d), or install a later varq": {"/slurm/v0.0.46/jobs", "/slurm/v0.0.45/jobs", "/slurmdb/v0.0.45/jobs"},
	} {
		if _, err := chooseVersions(served); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", served, err, want)
		}
	}
}

// Some servers have the document at the older path only.
func TestDocumentPlaces(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openapi/v3", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"paths":{"/slurm/v0.0.41/ping/":{},"/slurmdb/v0.0.41/jobs/":{}}}`)
	})
	mux.HandleFunc("GET /slurm/v0.0.41/ping", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"pings":[{"pinged":"UP"}],"errors":[]}`)
	})
	if err := serve(t, mux).Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// api serves v0.0.42 with one handler for everything below it.
func api(handler http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/openapi", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"paths":{"/slurm/v0.0.42/jobs/":{},"/slurmdb/v0.0.42/jobs/":{}}}`)
	})
	mux.Handle("/slurm/", handler)
	mux.Handle("/slurmdb/", handler)
	return mux
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// times are the fields that a job of the queue must have besides its id and state, and
// pastTimes those that one of accounting must have.
const (
	times     = `"submit_time":0,"eligible_time":0,"start_time":0,"time_limit":null`
	pastTimes = `"eligible":0,"start":0,"end":0`
)

// TestFailures has an answer for each way in which Slurm reports a failure.
func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		kind   error
		want   string
	}{
		{
			"500 with errors", answer(500, `{"errors":[{"description":"Unable to find JobId=7","error_number":2017,"error":"Invalid job id specified","source":"slurm_load_jobs"}],"jobs":[]}`),
			slurm.ErrNotFound, "slurmrestd: GET /slurm/v0.0.42/jobs: Invalid job id specified (Unable to find JobId=7)",
		},
		{
			"200 with errors", answer(200, `{"jobs":[],"errors":[{"error":"Unable to parse time","error_code":2054},{"error_number":-1,"error":"Unspecified error","description":"begin_time"}]}`),
			slurm.ErrRefused, "slurmrestd: GET /slurm/v0.0.42/jobs: Unable to parse time; Unspecified error (begin_time)",
		},
		{
			"errors before the jobs", answer(200, `{"errors":[{"errno":2002,"error":"Access/permission denied"}],"jobs":[]}`),
			slurm.ErrPermission, "slurmrestd: GET /slurm/v0.0.42/jobs: Access/permission denied",
		},
		{
			"expired token", answer(511, `{"errors":[{"description":"Unable to query jobs","error_number":1007,"error":"Protocol authentication error"}]}`),
			slurm.ErrPermission, "slurmrestd: GET /slurm/v0.0.42/jobs: Protocol authentication error (Unable to query jobs)",
		},
		{
			"slurmctld is down", answer(500, `{"errors":[{"error_number":1800,"error":"Unable to contact slurm controller (connect failure)"}]}`),
			slurm.ErrUnavailable, "slurmrestd: GET /slurm/v0.0.42/jobs: Unable to contact slurm controller (connect failure)",
		},
		{"401", answer(401, "Authentication failure"), slurm.ErrPermission, "slurmrestd: GET /slurm/v0.0.42/jobs: 401 Unauthorized"},
		{"502 from a proxy", answer(502, "<html>"), slurm.ErrUnavailable, "slurmrestd: GET /slurm/v0.0.42/jobs: 502 Bad Gateway"},
		{"404", answer(404, "Unable find requested URL."), slurm.ErrNotFound, "slurmrestd: GET /slurm/v0.0.42/jobs: 404 Not Found"},
		{"garbage", answer(200, "\x00\x01"), nil, `slurmrestd: GET /slurm/v0.0.42/jobs: bad answer: invalid character '\x00' looking for beginning of value`},
		{"not an object", answer(200, "[]"), nil, "slurmrestd: GET /slurm/v0.0.42/jobs: bad answer: want an object, not ["},
		{"truncated", answer(200, `{"jobs":[{"job_id":7`), slurm.ErrUnavailable, "slurmrestd: GET /slurm/v0.0.42/jobs: the answer was cut short: no answer from Slurm: jobs: unexpected EOF"},
		{"cut between jobs", answer(200, `{"jobs":[{"job_id":7,"job_state":"RUNNING",`+times+`},`), slurm.ErrUnavailable, "slurmrestd: GET /slurm/v0.0.42/jobs: the answer was cut short: no answer from Slurm: jobs: EOF"},
		{"jobs of another shape", answer(200, `{"jobs":"none"}`), nil, "slurmrestd: GET /slurm/v0.0.42/jobs: bad answer: jobs: want an array, not none"},
		{"a bad number", answer(200, `{"jobs":[{"job_id":"x"}]}`), nil, `slurmrestd: GET /slurm/v0.0.42/jobs: bad answer: jobs: bad number "x"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := serve(t, api(test.answer)).Queue(t.Context())
			if err == nil || err.Error() != test.want {
				t.Errorf("\n got %v\nwant %s", err, test.want)
			}
			if test.kind != nil && !errors.Is(err, test.kind) {
				t.Errorf("%v is not %v", err, test.kind)
			}
		})
	}
}

// The client does not send the token to another server.
func TestRedirectIsNotFollowed(t *testing.T) {
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		io.WriteString(w, `{"jobs":[]}`)
	}))
	defer other.Close()
	redirect := http.RedirectHandler(other.URL, http.StatusTemporaryRedirect)
	for name, handler := range map[string]http.Handler{"of every request": redirect, "of the jobs": api(redirect.ServeHTTP)} {
		server := httptest.NewServer(handler)
		defer server.Close()
		c, err := New(Options{URL: server.URL, Token: func() (string, error) { return "secret", nil }})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Queue(t.Context()); err == nil || !strings.Contains(err.Error(), "307 Temporary Redirect") {
			t.Errorf("redirect %s: %v", name, err)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the other server was asked %d times", n)
	}
}

// Slurm 22.05 reports an empty window as an error.
func TestNothingFound(t *testing.T) {
	c := serve(t, api(answer(200, `{"errors":[{"description":"Nothing found","error_number":9003,"error":"Nothing found with query"}],"jobs":[]}`)))
	for job, err := range c.History(t.Context(), 0, 3600, nil) {
		t.Errorf("got %v, %v", job, err)
	}
}

func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	c, err := New(Options{URL: "http://" + listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Ping(t.Context()); !errors.Is(err, slurm.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestSlowServer(t *testing.T) {
	for name, begin := range map[string]string{"before the answer": "", "within the answer": `{"jobs":[`} {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			server := httptest.NewServer(api(func(w http.ResponseWriter, _ *http.Request) {
				if begin != "" {
					io.WriteString(w, begin)
					w.(http.Flusher).Flush()
				}
				<-release
			}))
			defer server.Close()
			defer close(release)
			c, err := New(Options{URL: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.serverVersions(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.opts.Timeout = 50 * time.Millisecond
			_, err = c.Queue(t.Context())
			want := "slurmrestd: GET /slurm/v0.0.42/jobs: slurmrestd did not answer in time: too much at once: no answer from Slurm"
			if err == nil || err.Error() != want {
				t.Errorf("\n got %v\nwant %s", err, want)
			}
		})
	}
}

func TestCancelledByCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := serve(t, api(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	if _, err := c.Queue(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestHugeAnswer(t *testing.T) {
	server := httptest.NewServer(api(func(w http.ResponseWriter, _ *http.Request) {
		const job = `{"job_id":1,"job_state":"RUNNING",` + times + `}`
		io.WriteString(w, `{"jobs":[`+job)
		for range 10_000 {
			if _, err := io.WriteString(w, `,`+job); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	c, err := New(Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	c.maxAnswer = 10_000
	if _, err := c.Queue(t.Context()); !errors.Is(err, slurm.ErrTooMuch) {
		t.Errorf("got %v", err)
	}
}

// Whatever answers in slurmrestd's place, it fills no memory: not by values within values, nor by
// one that does not end, nor by many that are short.
func TestFillingAnswers(t *testing.T) {
	const bound = 1 << 20
	for _, test := range []struct{ name, begin, again, want string }{
		{"deep", `{"x":`, strings.Repeat("[", 1000), "bad answer: x: it is nested 1000 deep"},
		{"deep in a job", `{"jobs":[{"x":`, strings.Repeat("[", 1000), "bad answer: jobs: invalid character '[' exceeded max depth"},
		{"a long text", `{"x":"`, strings.Repeat("x", 1000), "bad answer: x: one value in it is longer than 131072 bytes"},
		{"a long job", `{"jobs":[{"job_id":1,"x":[0`, strings.Repeat(",0", 500), "bad answer: jobs: one value in it is longer than 131072 bytes"},
		{"errors", `{"errors":[{}`, strings.Repeat(",{}", 500), "bad answer: errors: one value in it is longer than 131072 bytes"},
		{"keys", `{"x":0`, strings.Repeat(`,"x":0`, 500), "bad answer: too much at once: the answer is too long"},
		{"short jobs", `{"jobs":[{"job_id":1,"job_state":"RUNNING",` + times + `}`, strings.Repeat(`,{"job_id":1,"job_state":"RUNNING",`+times+`}`, 100), "bad answer: jobs: too much at once: the answer is too long"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(api(func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, test.begin)
				for sent := 0; sent < bound/2; sent += len(test.again) { // which is not too long
					io.WriteString(w, test.again)
				}
			}))
			defer server.Close()
			c, err := New(Options{URL: server.URL, MaxAnswer: bound})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Queue(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("\n got %v\nwant %s", err, test.want)
			}
		})
	}
}

// The client uses a new token without a restart. It repeats a request only with a new
// token.
func TestRenewedToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		if err := os.WriteFile(path, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var requests atomic.Int32
	server := httptest.NewServer(api(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("X-SLURM-USER-NAME") != "varq" {
			t.Errorf("user %q", r.Header.Get("X-SLURM-USER-NAME"))
		}
		if r.Header.Get("X-SLURM-USER-TOKEN") != "new" {
			write("SLURM_JWT=new\n")
			answer(http.StatusUnauthorized, "Authentication failure")(w, r)
			return
		}
		answer(200, `{"jobs":[]}`)(w, r)
	}))
	defer server.Close()
	c, err := New(Options{URL: server.URL, User: "varq", Token: TokenFile(path)})
	if err != nil {
		t.Fatal(err)
	}

	write("old")
	if _, err := c.Queue(t.Context()); err != nil || requests.Load() != 2 {
		t.Errorf("%v after %d requests", err, requests.Load())
	}
	server.Config.Handler = api(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		answer(http.StatusUnauthorized, "")(w, r)
	})
	requests.Store(0)
	if _, err := c.Queue(t.Context()); !errors.Is(err, slurm.ErrPermission) || requests.Load() != 1 {
		t.Errorf("%v after %d requests", err, requests.Load())
	}
	os.Remove(path)
	if _, err := c.Queue(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	write("two words")
	if _, err := c.Queue(t.Context()); err == nil || !strings.Contains(err.Error(), "does not hold one token") {
		t.Errorf("got %v", err)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "restd.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: api(answer(200, `{"jobs":[]}`))}
	go server.Serve(listener)
	defer server.Close()
	for _, url := range []string{"unix:" + path, "unix://" + path} {
		c, err := New(Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Queue(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestBadURLs(t *testing.T) {
	for _, url := range []string{"", "localhost:6820", "ftp://host", "http://", "unix:relative"} {
		if _, err := New(Options{URL: url}); err == nil {
			t.Errorf("New(%q) succeeded", url)
		}
	}
}

func TestUpdate(t *testing.T) {
	comment := "mine varq:abcdefghijkl"
	for _, test := range []struct {
		version version
		update  slurm.Update
		want    string
	}{
		{38, slurm.Update{Job: 7, BeginTime: 1795217746, TimeLimit: 61, Comment: &comment}, `{"begin_time":"uts1795217746","comment":"mine varq:abcdefghijkl","time_limit":2}`},
		{44, slurm.Update{Job: 7, BeginTime: 1795217746, TimeLimit: 120}, `{"begin_time":1795217746,"time_limit":2}`},
		{44, slurm.Update{Job: 7, Comment: new(string)}, `{"comment":""}`},
		{44, slurm.Update{Job: 7}, ""},
		{38, slurm.Update{Job: 7, TimeLimit: 120, Resize: &slurm.Resize{Account: "phys", Nodes: 3, CPUs: 6, CPUsPerTask: 2}}, `{"account":"phys","nodes":"3","time_limit":2}`},
		{38, slurm.Update{Job: 7, TimeLimit: 120, Resize: &slurm.Resize{Account: "phys", Nodes: 3, Tasks: 6, CPUs: 6, Fewer: true}}, `{"account":"phys","cpus_per_task":1,"nodes":"3","tasks":6,"time_limit":2}`},
		{44, slurm.Update{Job: 7, TimeLimit: 120, Resize: &slurm.Resize{Account: "phys", Nodes: 3, Tasks: 6, CPUs: 6, Fewer: true}}, `{"account":"phys","minimum_cpus":6,"nodes":"3","tasks":6,"time_limit":2}`},
	} {
		var got string
		mux := http.NewServeMux()
		mux.HandleFunc("/openapi", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"paths":{"/slurm/%[1]v/jobs":{},"/slurmdb/%[1]v/jobs":{}}}`, test.version)
		})
		mux.HandleFunc(fmt.Sprintf("POST /slurm/%v/job/7", test.version), func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = string(body)
			io.WriteString(w, `{"errors":[]}`)
		})
		if err := serve(t, mux).Update(t.Context(), test.update); err != nil {
			t.Error(err)
		}
		if got != test.want {
			t.Errorf("%v: sent %s, want %s", test.version, got, test.want)
		}
	}
}

// Slurm 22.05 answers to each change of an array that it failed. Only the job tells whether it did.
func TestUpdateArray(t *testing.T) {
	const failed = `{"errors":[{"description":"job array update from [localhost]:52042 failed","source":"_parse_job_list"}]}`
	job := func(begin, limit int) string {
		return fmt.Sprintf(`{"jobs":[{"job_id":7,"array_job_id":7,"array_task_string":"0-3","job_state":"PENDING","submit_time":1000,"eligible_time":%d,"start_time":0,"time_limit":%d}],"errors":[]}`, begin, limit)
	}
	for name, c := range map[string]struct {
		update slurm.Update
		job    string
		made   bool
	}{
		"begin time":     {slurm.Update{Job: 7, BeginTime: 2000}, job(2000, 10), true},
		"not made":       {slurm.Update{Job: 7, BeginTime: 2000}, job(1000, 10), false},
		"time limit":     {slurm.Update{Job: 7, TimeLimit: 300}, job(1000, 5), true},
		"limit not made": {slurm.Update{Job: 7, BeginTime: 1000, TimeLimit: 300}, job(1000, 10), false},
		"gone meanwhile": {slurm.Update{Job: 7, BeginTime: 2000}, `{"jobs":[],"errors":[]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("/openapi", func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, `{"paths":{"/slurm/v0.0.38/jobs":{},"/slurmdb/v0.0.38/jobs":{}}}`)
			})
			mux.HandleFunc("POST /slurm/v0.0.38/job/7", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, failed) })
			mux.HandleFunc("GET /slurm/v0.0.38/job/7", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, c.job) })
			if err := serve(t, mux).Update(t.Context(), c.update); (err == nil) != c.made {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Slurm 24.11 reports some failures neither by the HTTP status nor in errors[].
func TestHiddenFailures(t *testing.T) {
	c := serve(t, api(answer(200, `{"status":[{"error":{"string":"Invalid job id specified","code":2017,"message":"x"},"step_id":"7"}],"errors":[],"warnings":[]}`)))
	err := c.Cancel(t.Context(), 7)
	if !errors.Is(err, slurm.ErrNotFound) || err.Error() != "slurmrestd: DELETE /job/7: Invalid job id specified" {
		t.Errorf("got %v", err)
	}
	c = serve(t, api(answer(200, `{"results":[{"job_id":7,"error":"Access denied","error_code":2002,"why":"not yours"}],"errors":[]}`)))
	err = c.Update(t.Context(), slurm.Update{Job: 7, TimeLimit: 60})
	if !errors.Is(err, slurm.ErrPermission) || err.Error() != "slurmrestd: POST /job/7: Access denied (not yours)" {
		t.Errorf("got %v", err)
	}
	c = serve(t, api(answer(200, `{"results":null,"status":null,"errors":[]}`)))
	if err := c.Update(t.Context(), slurm.Update{Job: 7, TimeLimit: 60}); err != nil {
		t.Error(err)
	}
}

func TestJob(t *testing.T) {
	c := serve(t, api(answer(200, `{"jobs":[{"job_id":8,"job_state":["PENDING"],`+times+`},{"job_id":7,"job_state":["PENDING","REQUEUED"],`+times+`,"array_job_id":8,"array_task_id":3}]}`)))
	got, err := c.Job(t.Context(), 7)
	check(t, got, slurm.QueueEntry{Job: workload.Job{ID: 7, State: workload.Pending, Array: 8, Tasks: 1}, ArrayJob: 8, ArrayTasks: "3"}, err)
	if _, err := c.Job(t.Context(), 9); !errors.Is(err, slurm.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	c = serve(t, api(answer(200, `{"jobs":[{"job_id":7,"job_state":["COMPLETED"],`+times+`}]}`)))
	if _, err := c.Job(t.Context(), 7); !errors.Is(err, slurm.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestAccounted(t *testing.T) {
	past := func(submit int64) workload.Job {
		return workload.Job{ID: 7, Submit: submit, State: workload.Completed, Request: workload.Request{Partition: "p"}}
	}
	const state = `"job_id":7,"state":{"current":"COMPLETED"},`
	c := serve(t, api(answer(200, `{"jobs":[{`+state+`"partition":"p","time":{"submission":20,`+pastTimes+`}},{`+
		state+`"time":{"submission":15,`+pastTimes+`}},{`+state+`"partition":"p","time":{"submission":10,`+pastTimes+`}}]}`)))
	got, err := c.Accounted(t.Context(), 7)
	check(t, got, []workload.Job{past(10), past(20)}, err) // that of 15 is half-written
	c = serve(t, api(answer(404, `{"errors":[]}`)))
	got, err = c.Accounted(t.Context(), 7)
	check(t, len(got), 0, err)
}

// Versions differ in how they read a list of jobs, and in whether they tell all runs unasked.
func TestAccountedAll(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v version, _ *Client) {
		var asked url.Values
		mux := http.NewServeMux()
		mux.HandleFunc("GET /openapi", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"paths":{"/slurm/%[1]s/jobs/":{},"/slurmdb/%[1]s/jobs/":{}}}`, v)
		})
		mux.HandleFunc("/slurmdb/{version}/jobs", func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.Query()
			job := func(id, submit int) string {
				return fmt.Sprintf(`{"job_id":%d,"state":{"current":["COMPLETED"]},"partition":"p","time":{"submission":%d,%s}}`, id, submit, pastTimes)
			}
			fmt.Fprintf(w, `{"jobs":[%s,%s,%s]}`, job(8, 30), job(7, 20), job(7, 10))
		})
		got, err := serve(t, mux).AccountedAll(t.Context(), []int64{7, 8, 9})
		if v == 39 {
			if !errors.Is(err, errors.ErrUnsupported) || asked != nil {
				t.Errorf("%v, asked for %v", err, asked)
			}
			return
		}
		past := func(id, submit int64) workload.Job {
			return workload.Job{ID: id, Submit: submit, State: workload.Completed, Request: workload.Request{Partition: "p"}}
		}
		check(t, got, map[int64][]workload.Job{7: {past(7, 10), past(7, 20)}, 8: {past(8, 30)}}, err)
		want := url.Values{"skip_steps": {"true"}, "step": {"7,8,9"}}
		if v != oldest {
			want = url.Values{"skip_steps": {"true"}, "step": {"7", "8", "9"}, "show_duplicates": {"true"}}
		}
		check(t, asked, want, nil)
	})
}

// A job that was cancelled in the queue has no start, although Slurm reports one. If nobody has
// cancelled it, Slurm did, as what it waited for did not come true, unless its own --deadline was
// why.
func TestCancelledInTheQueue(t *testing.T) {
	expired := serve(t, api(answer(200, `{"jobs":[{"job_id":7,"partition":"p","allocation_nodes":0,"nodes":"None assigned","state":{"current":["DEADLINE"],"reason":"None"},
		"time":{"submission":10,"eligible":10,"start":15,"end":15},"tres":{"allocated":[],"requested":[{"type":"node","name":"","count":4}]}}]}`)))
	if got, err := expired.Accounted(t.Context(), 7); err != nil || len(got) != 1 || !got[0].Expired || got[0].Unfulfilled {
		t.Errorf("by its deadline: %+v, %v", got, err)
	}
	for by, unfulfilled := range map[string]bool{`"alice"`: false, `null`: true, `""`: true} {
		c := serve(t, api(answer(200, `{"jobs":[{"job_id":7,"partition":"p","allocation_nodes":0,"nodes":"None assigned","kill_request_user":`+by+`,"state":{"current":["CANCELLED"],"reason":"Dependency"},
			"time":{"submission":10,"eligible":10,"start":15,"end":15},"tres":{"allocated":[],"requested":[{"type":"node","name":"","count":4}]}}]}`)))
		got, err := c.Accounted(t.Context(), 7)
		want := workload.Job{ID: 7, Submit: 10, Eligible: 10, End: 15, State: workload.Cancelled, Unfulfilled: unfulfilled}
		want.Partition, want.Nodes = "p", 4
		check(t, got, []workload.Job{want}, err)
	}
}

func TestNumber(t *testing.T) {
	some := 5.9
	for in, want := range map[string]number{
		`5`:                         {value: 5, set: true},
		`"5"`:                       {value: 5, set: true},
		`5.9`:                       {value: 5, fraction: some - 5, set: true},
		`{"set":true,"number":1.5}`: {value: 1, fraction: .5, set: true},
		`-3`:                        {value: -3, set: true},
		`null`:                      {},
		`""`:                        {},
		`4294967294`:                {},
		`4294967295`:                {infinite: true},
		`18446744073709551614`:      {},
		`18446744073709551615`:      {infinite: true},
		`-1`:                        {infinite: true},
		`-2`:                        {},
		`"INFINITE"`:                {infinite: true},
		`{"set":true,"infinite":false,"number":5}`:  {value: 5, set: true},
		`{"set":false,"infinite":false,"number":5}`: {},
		`{"set":false,"infinite":true,"number":0}`:  {infinite: true},
		`{"number":5}`: {value: 5, set: true},
		`{}`:           {},
	} {
		var got number
		if err := got.UnmarshalJSON([]byte(in)); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		want.present = true
		if got != want {
			t.Errorf("%s: got %+v, want %+v", in, got, want)
		}
	}
	for _, in := range []string{`"x"`, `[]`, `true`, `{"number":"x"}`, `1e300`} {
		var n number
		if err := n.UnmarshalJSON([]byte(in)); err == nil {
			t.Errorf("%s: got %+v", in, n)
		}
	}
}

// TestUsualNumbers: objects as slurmrestd writes them are the numbers that they are with a space in
// between.
func TestUsualNumbers(t *testing.T) {
	for _, set := range []bool{true, false} {
		for _, infinite := range []bool{true, false} {
			for _, digits := range []string{"0", "7", "123456789", "999999999", "4294967294", "4294967295", "18446744073709551615", "-1", "1.5", "1e3"} {
				in := fmt.Sprintf(`{"set":%t,"infinite":%t,"number":%s}`, set, infinite, digits)
				var got, want number
				if err := errors.Join(got.UnmarshalJSON([]byte(in)), want.UnmarshalJSON([]byte(strings.Replace(in, ":", ": ", 1)))); err != nil {
					t.Errorf("%s: %v", in, err)
				}
				if got != want {
					t.Errorf("%s: got %+v, want %+v", in, got, want)
				}
			}
		}
	}
}

func TestFlag(t *testing.T) {
	for in, want := range map[string]flag{"true": true, "false": false, "1": true, "0": false, "null": false, `{"set":true,"number":1}`: true} {
		var got flag
		if err := got.UnmarshalJSON([]byte(in)); err != nil || got != want {
			t.Errorf("%s: got %v, %v", in, got, err)
		}
	}
}

// BenchmarkHistory10k decodes a window of 10,000 jobs of v0.0.42.
func BenchmarkHistory10k(b *testing.B) {
	data, err := os.ReadFile("testdata/v0.0.42/slurmdb_jobs.json")
	if err != nil {
		b.Fatal(err)
	}
	job := strings.TrimSuffix(strings.Split(string(data), "\n")[1], ",")
	body := `{"jobs":[` + strings.Repeat(job+",", 9_999) + job + `],"errors":[]}`
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		n := 0
		err := readAnswer(b.Context(), "GET /jobs", newDecoder(strings.NewReader(body), maxAnswer), fields{
			"jobs": each(func(j *pastJob) error { n++; _ = j.job(); return nil }),
		})
		if err != nil || n != 10_000 {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkQueue25k decodes the queue of a big site: 25,000 jobs of v0.0.42.
func BenchmarkQueue25k(b *testing.B) {
	data, err := os.ReadFile("testdata/v0.0.42/slurm_jobs.json")
	if err != nil {
		b.Fatal(err)
	}
	job := strings.TrimSuffix(strings.Split(string(data), "\n")[1], ",")
	body := `{"jobs":[` + strings.Repeat(job+",", 24_999) + job + `],"errors":[]}`
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		err := readAnswer(b.Context(), "GET /jobs", newDecoder(strings.NewReader(body), maxAnswer), fields{
			"jobs": each(func(j *queueJob) error { n++; _ = j.entry(); return nil }),
		})
		if err != nil || n != 25_000 {
			b.Fatal(n, err)
		}
	}
}

// A request whose time is over does not wait for another, which reads the server's versions with
// more time.
func TestVersionsAreAwaitedByNobodyElse(t *testing.T) {
	asked, release := make(chan struct{}, 2), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	}))
	defer server.Close()
	c, err := New(Options{URL: server.URL, Timeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	first := make(chan error)
	go func() {
		_, err := c.serverVersions(t.Context())
		first <- err
	}()
	<-asked
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.serverVersions(over); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(release)
	if err := <-first; err == nil {
		t.Error("an empty answer has versions")
	}
}
