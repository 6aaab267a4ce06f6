package slurmrestd_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
)

// fakeSlurm answers like a slurmrestd of Slurm 24.11 with one job in its queue.
func fakeSlurm() *httptest.Server {
	answer := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openapi", answer(`{"paths": {"/slurm/v0.0.42/jobs/": {}, "/slurmdb/v0.0.42/jobs/": {}}}`))
	mux.HandleFunc("GET /slurm/v0.0.42/jobs", answer(`{"jobs": [{
		"job_id": 4711, "user_name": "alice", "partition": "main", "job_state": ["PENDING"], "state_reason": "Priority",
		"time_limit": {"set": true, "infinite": false, "number": 60}, "tres_req_str": "cpu=64,mem=128G,node=4",
		"submit_time": {"set": true, "infinite": false, "number": 1750000000},
		"eligible_time": {"set": true, "infinite": false, "number": 1750000000},
		"start_time": {"set": true, "infinite": false, "number": 0}
	}]}`))
	return httptest.NewServer(mux)
}

// Queue reads the queue of a cluster with any supported API version.
func ExampleClient_Queue() {
	server := fakeSlurm() // https://HOST:6820 or unix:/run/slurmrestd.sock on a cluster
	defer server.Close()

	client, err := slurmrestd.New(slurmrestd.Options{
		URL:   server.URL,
		Token: func() (string, error) { return "what 'scontrol token' prints", nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	queue, err := client.Queue(context.Background())
	if err != nil {
		fmt.Println(err) // wraps slurm.ErrUnavailable while Slurm cannot be reached
		return
	}
	for _, job := range queue {
		fmt.Printf("%d of %s is %v (%s): %d nodes for %d s\n", job.ID, job.User, job.State, job.Reason, job.Nodes, job.Limit)
	}
	// Output:
	// 4711 of alice is PENDING (Priority): 4 nodes for 3600 s
}
