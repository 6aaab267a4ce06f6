package slurmrestd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/engine"
	"github.com/varq-project/varq/predictor/workload"
)

// serveFixtures returns a client of a server that answers with versions of the API from testdata.
func serveFixtures(t testing.TB, served ...version) *Client {
	return serve(t, fixtureHandler(served...))
}

func fixtureHandler(served ...version) http.Handler {
	paths := map[string]any{}
	for _, v := range served {
		for _, f := range []family{controller, database} {
			paths[fmt.Sprintf("/%s/%v/jobs/", f, v)] = map[string]any{"get": struct{}{}}
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openapi", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"info": struct{}{}, "paths": paths})
	})
	mux.HandleFunc("GET /{family}/{version}/{name}", func(w http.ResponseWriter, r *http.Request) {
		if !slices.ContainsFunc(served, func(v version) bool { return r.PathValue("version") == v.String() }) {
			http.NotFound(w, r)
			return
		}
		http.ServeFile(w, r, filepath.Join("testdata", r.PathValue("version"), r.PathValue("family")+"_"+r.PathValue("name")+".json"))
	})
	return mux
}

// serve returns a client of the handler.
func serve(t testing.TB, handler http.Handler) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := New(Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func forEachVersion(t *testing.T, test func(t *testing.T, v version, c *Client)) {
	for v := oldest; v <= newest; v++ {
		t.Run(v.String(), func(t *testing.T) { test(t, v, serveFixtures(t, v)) })
	}
}

const start = 1750000000 // of the fixtures, Unix seconds

func submitted(id int64) int64 { return start + 10*id }

func TestQueue(t *testing.T) {
	job := func(id int64, user, account, partition string, size workload.Size, limit int64) workload.Job {
		return workload.Job{
			ID: id,
			Request: workload.Request{
				User: user, Account: account, Partition: partition, QOS: "normal", Size: size, Limit: limit,
			},
			Submit:   submitted(id),
			Eligible: submitted(id),
			State:    workload.Pending,
		}
	}
	forEachVersion(t, func(t *testing.T, v version, c *Client) {
		requeued := slurm.QueueEntry{
			Job:  job(103, "alice", "phys", "main", workload.Size{Nodes: 1, CPUs: 1, Memory: 200}, 1800),
			Name: "requeued", Reason: "BeginTime", RestartCount: 1,
		}
		requeued.Submit += 9
		requeued.Eligible += 130
		requeued.Comment = "again"
		requeued.Engine = engine.Job{Name: engine.Nextflow, Run: "/scratch/alice/work"}
		running := slurm.QueueEntry{
			Job:  job(104, "bob", "chem", "main", workload.Size{Nodes: 2, CPUs: 4, Memory: 600}, 7200),
			Name: "running", Reason: "None",
		}
		running.State, running.Start, running.Given, running.On = workload.Running, submitted(104)+1, 4, []string{"node2", "node3"}
		begin := slurm.QueueEntry{
			Job:  job(105, "alice", "phys", "main", workload.Size{Nodes: 2, CPUs: 2, Memory: 8000}, 86400),
			Name: "begin", Reason: "BeginTime",
		}
		begin.Eligible += 36000
		begin.Comment = "varq:abcdefghijkl"
		held := slurm.QueueEntry{
			Job:  job(106, "bob", "chem", "short", workload.Size{Nodes: 1, CPUs: 1, Memory: 100}, slurm.UnlimitedTime),
			Name: "held", Reason: "JobHeldUser", Held: true, ArrayJob: 106, ArrayTasks: "1-4,7",
		}
		held.Eligible = 0
		held.Array, held.Tasks = 106, 5
		if v == 38 {
			held.Limit = 0 // it writes null for UNLIMITED
		}
		alone := slurm.QueueEntry{
			Job:  job(108, "bob", "chem", "main", workload.Size{Nodes: 1, CPUs: 1, Memory: 100}, 300),
			Name: "alone", Reason: "BeginTime", Exclusive: true,
		}
		alone.Eligible += 36000
		apart := slurm.QueueEntry{
			Job:  job(109, "bob", "chem", "main", workload.Size{Nodes: 1, CPUs: 1, Memory: 100}, 300),
			Name: "apart", Reason: "None", NodeList: "node3", Exclusive: true,
		}
		apart.State, apart.Start, apart.Given, apart.On = workload.Running, submitted(109)+1, 1, []string{"node3"}
		want := []slurm.QueueEntry{requeued, running, begin, held, alone, apart}
		for i := range want {
			want[i].Series = want[i].Name
			if j := &want[i]; j.State == workload.Pending {
				if !j.Held {
					j.Priority, j.Expected = 1, j.Eligible
				}
				j.Shape = slurm.Shape{CPUs: int64(j.CPUs), Tasks: int64(j.CPUs), CPUsPerTask: 1, CPUsPerNode: 1, MemoryPerNode: j.Memory}
				if v == 38 {
					j.Shape.CPUsPerTask = 0 // it writes null
				}
				if j.ID == begin.ID {
					j.Shape.MemoryPerNode = 0 // it has the site's
				}
			}
		}
		got, err := c.Queue(t.Context())
		check(t, got, want, err)
	})
}

// TestExclusive: of what Slurm 26.05 serves, that is read which tells which jobs are exclusive.
// v0.0.45 has an empty "shared" for each.
func TestExclusive(t *testing.T) {
	queue, err := serveFixtures(t, 42, 43, 44, 45).Queue(t.Context())
	var exclusive []string
	for i := range queue {
		if queue[i].Exclusive {
			exclusive = append(exclusive, queue[i].Name)
		}
	}
	check(t, exclusive, []string{"alone", "apart"}, err)
}

func TestHistory(t *testing.T) {
	past := func(id int64, user, account string, size workload.Size, limit, start, end int64, state workload.State, comment string) workload.Job {
		return workload.Job{
			ID:      id,
			Request: workload.Request{User: user, Account: account, Partition: "main", QOS: "normal", Size: size, Limit: limit},
			Given:   size.CPUs,
			Submit:  submitted(id), Eligible: submitted(id), Start: start, End: end, State: state, Comment: comment,
		}
	}
	want := []workload.Job{
		past(101, "alice", "phys", workload.Size{Nodes: 1, CPUs: 2, Memory: 100}, 600, submitted(101)+1, submitted(101)+2, workload.Completed, "hello varq:abcdefghijkl"),
		past(102, "bob", "chem", workload.Size{Nodes: 1, CPUs: 1, Memory: 4000}, 300, submitted(102)+1, submitted(102)+1, workload.Failed, ""),
		past(103, "alice", "phys", workload.Size{Nodes: 1, CPUs: 1, Memory: 200}, 1800, submitted(103)+1, submitted(103)+9, workload.Requeued, "again"),
		past(104, "bob", "chem", workload.Size{Nodes: 2, CPUs: 4, Memory: 600}, 7200, submitted(104)+1, 0, workload.Running, ""),
	}
	want[3].On = []string{"node2", "node3"}
	for i, name := range []string{"finished", "failed", "requeued", "running"} {
		want[i].Series = name
	}
	forEachVersion(t, func(t *testing.T, _ version, c *Client) {
		var got []workload.Job
		var complete []int64
		for job, err := range c.History(t.Context(), start, start+3600, func(p slurm.Progress) { complete = append(complete, p.Complete) }) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, job)
		}
		check(t, got, want, nil)
		check(t, complete, []int64{start + 3600}, nil)
	})
}

func TestNodes(t *testing.T) {
	partitions := []string{"main", "short"}
	want := []slurm.Node{
		{
			Name: "node1", CPUs: 4, GPUs: 2, Threads: 1, Memory: 4000, Features: []string{"ib", "fast"}, Gres: map[string]int64{"gpu": 2, "gpu:a100": 2},
			Partitions: partitions, Up: true, State: "IDLE",
		},
		{Name: "node2", CPUs: 4, Threads: 1, Memory: 4000, Partitions: partitions, Up: true, State: "MIXED"},
		{Name: "node3", CPUs: 4, Threads: 1, Memory: 4000, Partitions: partitions[:1], Up: true, State: "MIXED"},
		{Name: "node4", CPUs: 4, Threads: 1, Memory: 4000, Partitions: partitions[:1], Up: true, Drained: true, State: "IDLE+DRAIN", Reason: "disk", ReasonBy: "root", ReasonAt: start + 50},
	}
	for i := range want {
		want[i].BootTime, want[i].Address, want[i].Hostname = start-15000, "127.0.0.1", want[i].Name
	}
	forEachVersion(t, func(t *testing.T, v version, c *Client) {
		want[3].ResumeAfter = start + 3650
		if v == 38 {
			want[3].ResumeAfter = 0 // it does not tell
		}
		got, err := c.Nodes(t.Context())
		check(t, got, want, err)
	})
}

func TestCluster(t *testing.T) {
	unlimited := limits.JobLimits{MaxWall: limits.None}
	phys := limits.JobLimits{
		MaxWall:     2 * 86400,
		MaxTRES:     limits.TRES{"node": 4},
		MaxTRESMins: limits.TRES{"cpu": 7777},
		GrpTRESMins: limits.TRES{"cpu": 5000000, "node": 1000},
		GrpTRES:     limits.TRES{"cpu": 16},
		Group:       limits.Share{Submitted: new(int64(1000))},
	}
	alice := phys // inherits all but the group's limits
	alice.GrpTRES, alice.Group = nil, limits.Share{}
	alice.GrpTRESMins = limits.TRES{"cpu": 600000}
	normal := limits.JobLimits{
		MaxWall:     86400,
		MaxTRES:     limits.TRES{"cpu": 8},
		MaxTRESMins: limits.TRES{"cpu": 100000},
		GrpTRESMins: limits.TRES{"cpu": 900000},
	}
	long := unlimited
	long.MaxWall, long.GrpTRES = 7*86400, limits.TRES{"cpu": 8}
	forEachVersion(t, func(t *testing.T, v version, c *Client) {
		main := limits.Partition{
			Name: "main", Default: true, Up: true, MaxTime: 2 * 86400, DefaultTime: 3600, MaxNodes: limits.None,
			Nodes: []string{"node1", "node2", "node3", "node4"}, TotalCPUs: 16,
		}
		if v > 38 {
			main.Default = false // these versions do not report it
		}
		normal := normal
		if v < 42 {
			normal.GrpTRESMins = nil // these versions do not report it
		}
		want := limits.Cluster{
			Partitions: map[string]limits.Partition{
				"main": main,
				"short": {
					Name: "short", Up: true, MaxTime: 3600, DefaultTime: limits.None, MaxNodes: limits.None,
					Nodes: []string{"node1", "node2"}, TotalCPUs: 8, BillingWeights: map[string]float64{"cpu": 1, "mem": 0.25 / 1024},
				},
			},
			QOS: map[string]limits.QOS{"normal": {Name: "normal", UsageFactor: 1, JobLimits: normal}, "long": {
				Name: "long", OverPartQOS: true, PartitionTimeLimit: true, PartitionMaxNodes: true, UsageFactor: 1, JobLimits: long,
			}},
			Associations: []limits.Association{
				{Cluster: "lab", Account: "chem", Parent: "root", QOS: []string{"normal"}, JobLimits: unlimited},
				{Cluster: "lab", Account: "chem", User: "bob", Default: true, QOS: []string{"normal"}, JobLimits: unlimited},
				{Cluster: "lab", Account: "phys", Parent: "root", QOS: []string{"normal"}, JobLimits: phys},
				{Cluster: "lab", Account: "phys", User: "alice", Default: true, DefaultQOS: "normal", QOS: []string{"normal"}, JobLimits: alice},
			},
			Licenses: map[string]limits.License{"ansys": {Total: 1}, "matlab": {Total: 3, Used: 1}},
			Reservations: []limits.Reservation{{
				Name: "maint1", Start: start + 172800, End: start + 180000, Maintenance: true,
				Nodes: []string{"node1", "node2", "node3", "node4"}, Users: []string{"root"},
			}},
		}
		got, err := c.Cluster(t.Context())
		check(t, got, want, err)
	})
}

func TestOperators(t *testing.T) {
	forEachVersion(t, func(t *testing.T, _ version, c *Client) {
		got, err := c.Operators(t.Context())
		check(t, got, []string{"oper", "root"}, err)
	})
}

func TestPing(t *testing.T) {
	forEachVersion(t, func(t *testing.T, _ version, c *Client) {
		if err := c.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func check(t *testing.T, got, want any, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(workload.Job{}, "Needs")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/v*/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no fixtures", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 8<<10 {
			f.Add(string(data))
		}
	}
	f.Fuzz(func(t *testing.T, answer string) {
		_ = readAnswer(t.Context(), "GET /fuzz", newDecoder(strings.NewReader(answer), maxAnswer), fields{
			"jobs":         each(func(j *queueJob) error { j.entry(); return nil }),
			"nodes":        each(func(*node) error { return nil }),
			"partitions":   each(func(p *partition) error { _, err := p.limits(); return err }),
			"reservations": each(func(r *reservation) error { _, err := r.limits(); return err }),
			"qos":          each(func(q *qos) error { q.limits(); return nil }),
			"associations": each(func(a *association) error { a.limits(); return nil }),
			"status":       each(func(*killResult) error { return nil }),
		})
		_ = readAnswer(t.Context(), "GET /fuzz", newDecoder(strings.NewReader(answer), maxAnswer), fields{
			"jobs": each(func(j *pastJob) error {
				if job := j.job(); job.Nodes < 0 || job.CPUs < 0 || job.Limit < 0 {
					t.Errorf("negative: %+v", job)
				}
				return nil
			}),
			"partitions": each(func(p *flatPartition) error { _, err := p.limits(); return err }),
		})
	})
}
