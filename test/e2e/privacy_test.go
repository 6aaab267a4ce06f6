package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
)

// private: nobody sees, forges or moves another user's reservation.
func private(t *testing.T, s *site.Site) {
	file, _ := script(t, s, "private", "", "")
	id, r := reserve(t, s, "alice", "--begin-by=now+3hours", "--prob=0.6", "--time=5", file)
	job := strconv.FormatInt(id, 10)
	defer mustRun(t, s, "alice", "scancel", job)

	got := mustRun(t, s, "oper", "varq", "status", "--json", job)
	if seen := decode[[]api.Reservation](t, got.Stdout); len(seen) != 1 || seen[0].User != "alice" {
		t.Errorf("the operator sees %+v", seen)
	}
	for _, args := range [][]string{{"status", "--json", job}, {"status", "--json", "--all"}, {"status", "--json", "--user=alice"}} {
		seen, err := s.Run(t.Context(), "bob", "varq", args...)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(seen.Stdout, r.ID) || strings.Contains(seen.Stdout, "alice") {
			t.Errorf("bob runs varq %v and sees %q", args, seen.Stdout)
		}
	}
	awaitLook(t, s)
	for user, promised := range map[string]bool{"alice": true, "oper": true, "bob": false} {
		told := decode[api.When](t, mustRun(t, s, user, "varq", "when", "--json", job).Stdout)
		if len(told.Jobs) != 1 || told.Jobs[0].User != "alice" || (told.Jobs[0].Plan == r.ID) != promised || (told.Jobs[0].Prob != 0) != promised {
			t.Errorf("%s is told %+v", user, told)
		}
	}
	// Bob submits a job with alice's plan in its comment.
	forged, _, err := s.Submit(t.Context(), "bob", "--time=5", "--begin=now+2hours", "--comment="+r.Comment, file)
	if err != nil {
		t.Fatal(err)
	}
	defer mustRun(t, s, "bob", "scancel", strconv.FormatInt(forged, 10))
	awaitLook(t, s)
	after, err := s.Reservation(t.Context(), "alice", id)
	if err != nil {
		t.Fatal(err)
	}
	if after.Job != id || after.User != "alice" {
		t.Errorf("alice's reservation is now %+v", after)
	}
	moved, err := s.Run(t.Context(), "bob", "scontrol", "update", "JobId="+job, "StartTime=now+9hours")
	if err != nil {
		t.Fatal(err)
	}
	if moved.Code == 0 {
		t.Error("bob moved alice's job")
	}
}

// otherHost: munge authenticates a user on a host that reaches varqd only by TCP. A request
// without a credential fails.
func otherHost(t *testing.T, s *site.Site) {
	r := mustRun(t, s, "bob", "varq", "quote", "--endpoint=tcp://"+s.Address(), "-N1", "-t", "5", "--begin-by=now+2hours", "--json")
	if a := decode[api.PlanAnswer](t, r.Stdout); a.Plan == nil {
		t.Errorf("answered %s", r.Stdout)
	}
	reserved := mustRun(t, s, "bob", "env", "VARQ_ENDPOINT=tcp://"+s.Address(), "sbatch", "--parsable", "--begin-by=now+2hours", "--time=5", "--wrap=true")
	defer mustRun(t, s, "bob", "scancel", strings.TrimSpace(reserved.Stdout))
	bare, err := http.Get("http://" + s.Address() + api.PathReservations)
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Body.Close()
	if bare.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a credential: HTTP %s", bare.Status)
	}
}

// impostor: alice listens on a port that bob takes for varqd's, and answers as varqd would,
// with a credential of hers. Bob's job is not submitted.
func impostor(t *testing.T, s *site.Site) {
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := time.Now().Unix() + 7200
		body, err := json.Marshal(api.PlanAnswer{Plan: &api.Plan{ID: "aaaaaaaaaaaa", BeginTime: at, BeginBy: at, TimeLimit: 3600, WorkLimit: 300, Comment: "varq:aaaaaaaaaaaa"}})
		if err != nil {
			t.Error(err)
		}
		request := strings.TrimPrefix(r.Header.Get("Authorization"), "Munge ")
		sign := s.Command(t.Context(), "alice", "munge", "--socket="+s.MungeSocket())
		sign.Stdin = bytes.NewReader(api.AnswerDigest(request, http.StatusOK, body))
		credential, err := sign.Output()
		if err != nil {
			t.Error(err)
		}
		w.Header().Set(api.AnswerCredential, strings.TrimSpace(string(credential)))
		_, _ = w.Write(body)
	}))
	defer fake.Close()
	r, err := s.Run(t.Context(), "bob", "env", "VARQ_ENDPOINT=tcp://"+fake.Listener.Addr().String(), "sbatch", "--job-name=impostor", "--begin-by=now+2hours", "--time=5", "--wrap=true")
	if err != nil {
		t.Fatal(err)
	}
	if r.Code == 0 || !strings.Contains(r.Stderr, "does not prove to be varqd") {
		t.Errorf("exit code %d, said %q", r.Code, r.Stderr)
	}
	if got := jobs(t, s, "bob", "impostor"); len(got) != 0 {
		t.Errorf("jobs %v are in the queue", got)
	}
}

// quoteAndPredict: varq quote and varq predict work. Neither makes a promise.
func quoteAndPredict(t *testing.T, s *site.Site) {
	plot := s.JobDir() + "/trajectory.svg"
	r := mustRun(t, s, "alice", "varq", "quote", "-N4", "-t", "30:00", "--begin-by=now+4hours", "--prob=.8", "--plot", plot)
	t.Logf("varq quote\n%s", r.Stdout)
	predicted := mustRun(t, s, "alice", "varq", "predict", "-N1", "-t", "5", "--json")
	p := decode[api.Prediction](t, predicted.Stdout)
	if len(p.Bounds) != 4 {
		t.Fatalf("predicted %s", predicted.Stdout)
	}
	last := -1.0
	for _, b := range p.Bounds {
		if b.Seconds == nil || *b.Seconds < last {
			t.Errorf("bounds %s", predicted.Stdout)
			break
		}
		last = *b.Seconds
	}
	refused, err := s.Run(t.Context(), "alice", "varq", "quote", "-N8", "-t", "1-00:00:00", "--begin-by=now+2minutes", "--prob=.95")
	if err != nil {
		t.Fatal(err)
	}
	if refused.Code != 1 {
		t.Errorf("a refused quote ends with %d: %s%s", refused.Code, refused.Stdout, refused.Stderr)
	}
}
