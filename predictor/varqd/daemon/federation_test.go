package daemon

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
)

func TestUpdateOfFederatedJob(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/openapi") {
			io.WriteString(w, `{"paths": {"/slurm/v0.0.42/jobs": {}, "/slurmdb/v0.0.42/jobs": {}}}`)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, `{"errors": [{"description": "Invalid JobID rejected", "error_number": 2017, "error": "Invalid job id specified"}]}`)
	}))
	defer server.Close()
	client, err := slurmrestd.New(slurmrestd.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	said := filepath.Join(t.TempDir(), "said")
	s := &slurmClient{Client: client}
	s.scontrol.Path = filepath.Join(t.TempDir(), "scontrol")
	if err := os.WriteFile(s.scontrol.Path, []byte("#!/bin/sh\necho \"$@\" >"+said+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(t.Context(), slurm.Update{Job: slurmrestd.FirstFederated - 1, BeginTime: 5}); err == nil {
		t.Error("a job of no federation is changed by scontrol")
	}
	if err := s.Update(t.Context(), slurm.Update{Job: slurmrestd.FirstFederated, BeginTime: 5}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(said); err != nil || string(got) != "update JobId=67108864 StartTime=uts5\n" {
		t.Errorf("%q, %v", got, err)
	}
}
