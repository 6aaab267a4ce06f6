package main

import (
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/varq-project/varq/predictor/api"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"varq-filter": main}) }

// TestScripts runs the scripts in testdata. In each script's folder, at $WORK/varqd.sock, a
// varqd promises everything.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			socket := filepath.Join(env.WorkDir, "varqd.sock")
			listener, err := net.Listen("unix", socket)
			if err != nil {
				return err
			}
			server := &http.Server{Handler: http.HandlerFunc(promise), ReadHeaderTimeout: time.Minute}
			go server.Serve(listener)
			env.Defer(func() { server.Close() })
			env.Setenv("VARQ_ENDPOINT", "unix://"+socket)
			env.Setenv("TZ", "UTC")
			return nil
		},
	})
}

func promise(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == api.PathBind {
		_, _ = w.Write([]byte("{}"))
		return
	}
	var request api.PlanRequest
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	plan := api.Plan{
		BeginTime: request.BeginBy - 600, TimeLimit: request.Job.Limit + 600, BeginBy: request.BeginBy, HoldUntil: request.BeginBy,
		WorkLimit: request.Job.Limit, Prob: .9, Estimate: .9, OnMiss: api.OnMissRun,
	}
	if r.URL.Path == api.PathPlan {
		plan.ID, plan.Comment = "abcdefgh2345", "varq:abcdefgh2345"
	}
	_ = json.NewEncoder(w).Encode(api.PlanAnswer{Plan: &plan})
}
