package history

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/workload"
)

func mustOpen(t testing.TB, path string) *History {
	t.Helper()
	h, aside, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if aside != "" {
		t.Fatalf("the cache was moved to %s", aside)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// synthetic returns n started jobs of a few users, in no order.
func synthetic(n int) []workload.Job {
	rng := rand.New(rand.NewPCG(1, 2))
	jobs := make([]workload.Job, n)
	for i := range jobs {
		submit := 1_700_000_000 + int64(rng.IntN(60*86400))
		eligible := submit + int64(rng.IntN(2))*3600
		start := eligible + int64(rng.ExpFloat64()*1800)
		limit := int64(60 * (1 + rng.IntN(1440)))
		jobs[i] = workload.Job{
			ID: int64(i + 1), Submit: submit, Eligible: eligible, Start: start, End: start + rng.Int64N(limit), State: workload.Completed,
			Request: workload.Request{
				User: fmt.Sprintf("user%d", rng.IntN(300)), Account: "phys", Partition: []string{"main", "short"}[rng.IntN(2)], QOS: "normal",
				Size: workload.Size{Nodes: int32(1 + rng.IntN(64)), CPUs: int32(1 + rng.IntN(256)), GPUs: int32(rng.IntN(3)), Memory: rng.Int64N(1 << 20)}, Limit: limit,
			},
		}
	}
	return jobs
}

func collect(t *testing.T, h *History) []workload.Job {
	t.Helper()
	var jobs []workload.Job
	for j, err := range h.Jobs(t.Context(), 1_000_000) {
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func byStart(a, b workload.Job) int {
	if a.Start != b.Start {
		return int(a.Start - b.Start)
	}
	return int(a.ID - b.ID)
}

func TestJobsComeBackInOrderOfStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	want := synthetic(500)
	h := mustOpen(t, path)
	covered := Coverage{Since: 1, Until: 2, Complete: true}
	for chunk := range slices.Chunk(want, 99) {
		started, err := h.Add(t.Context(), chunk, &covered)
		if err != nil || len(started) != len(chunk) {
			t.Fatalf("%d of %d jobs are new, %v", len(started), len(chunk), err)
		}
	}
	h.Close()
	h = mustOpen(t, path)
	slices.SortFunc(want, byStart)
	if diff := cmp.Diff(want, collect(t, h)); diff != "" {
		t.Error(diff)
	}
	newest := 0
	for j, err := range h.Jobs(t.Context(), 10) {
		if err != nil || !cmp.Equal(j, want[len(want)-10+newest]) {
			t.Fatalf("of the newest ten, number %d is %+v, %v", newest, j, err)
		}
		newest++
	}
	if newest != 10 {
		t.Errorf("the newest ten are %d", newest)
	}
	if got, err := h.Coverage(t.Context()); err != nil || got != covered {
		t.Errorf("coverage %+v, %v", got, err)
	}
}

// Newest tells what counting the newest jobs tells.
func TestNewest(t *testing.T) {
	h := mustOpen(t, filepath.Join(t.TempDir(), "history.db"))
	jobs := synthetic(50)
	slices.SortFunc(jobs, byStart)
	for i := range jobs[40:] {
		jobs[40+i].User = "alice"
	}
	for known := 0; known <= len(jobs); known += len(jobs) {
		add(t, h, jobs[:known], nil)
		for _, most := range []int{1, 10, 11, 50, 1000} {
			for _, user := range []string{"alice", "nobody"} {
				var want Newest
				for j, err := range h.Jobs(t.Context(), most) {
					if err != nil {
						t.Fatal(err)
					}
					if want.Jobs++; want.Jobs == 1 {
						want.First = j.Start
					}
					want.Others = want.Others || j.User != user
				}
				if got, err := h.Newest(t.Context(), most, user); err != nil || got != want || got.Jobs != min(most, known) {
					t.Errorf("%d of %d jobs for %s: %+v, want %+v, %v", most, known, user, got, want, err)
				}
			}
		}
	}
}

// Every column holds the value of the field that it is named after.
func TestColumns(t *testing.T) {
	h := mustOpen(t, filepath.Join(t.TempDir(), "history.db"))
	job := workload.Job{
		ID: 1, Submit: 2, Eligible: 3, Start: 4, End: 5, State: workload.Cancelled, AtLimit: true, Given: 6, Priority: 1 << 40,
		Request: workload.Request{
			User: "User", Account: "Account", Partition: "Partition", NodeSet: "NodeSet", QOS: "QOS",
			Size: workload.Size{Nodes: 6, CPUs: 7, GPUs: 8, Memory: 9, Licences: "a:1"}, Limit: 10,
		},
	}
	if _, err := h.Add(t.Context(), []workload.Job{job}, nil); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := h.db.Load().QueryRow(`SELECT concat_ws(' ', job, submit, eligible, start, end, state, u.text, a.text, p.text, n.text, q.text,
		nodes, cpus, gpus, memory, time_limit, at_limit, given, priority, l.text) FROM jobs
		JOIN strings u ON u.id = user JOIN strings a ON a.id = account JOIN strings p ON p.id = partition JOIN strings q ON q.id = qos
		JOIN strings n ON n.id = node_set JOIN strings l ON l.id = licences`).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("1 2 3 4 5 %d User Account Partition NodeSet QOS 6 7 8 9 10 1 6 %d a:1", workload.Cancelled, int64(1)<<40); got != want {
		t.Errorf("the row is %s, want %s", got, want)
	}
	if diff := cmp.Diff([]workload.Job{job}, collect(t, h)); diff != "" {
		t.Error(diff)
	}
}

// A file of each version before starts were cut off is taken over without its jobs, and as if
// nothing had been read. A file of a later version keeps its jobs.
func TestOlderFiles(t *testing.T) {
	const readAgain = 5
	for version := 1; version < len(schema); version++ {
		path := filepath.Join(t.TempDir(), "history.db")
		old, err := sqlitefile.Open(path, sqlitefile.SurvivesKill, schema[:version])
		if err != nil {
			t.Fatal(err)
		}
		if err := old.Write(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), `INSERT INTO strings VALUES (7, 'word');
				INSERT INTO jobs (start, job, submit, eligible, end, state, user, account, partition, qos, nodes, cpus, gpus, memory, time_limit)
				VALUES (4, 1, 2, 3, 5, 3, 7, 7, 7, 7, 6, 7, 8, 9, 10); UPDATE coverage SET since = 1, until = 9, complete = 1`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		h := mustOpen(t, path)
		want := Coverage{}
		if version > readAgain {
			want = Coverage{Since: 1, Until: 9, Complete: true}
		}
		if got, err := h.Coverage(t.Context()); err != nil || got != want {
			t.Errorf("of version %d: %+v is covered, %v", version, got, err)
		}
		if version > readAgain {
			if jobs := collect(t, h); len(jobs) != 1 || jobs[0].User != "word" || jobs[0].Nodes != 6 || jobs[0].Licences != "" {
				t.Errorf("of version %d: %+v", version, jobs)
			}
			continue
		}
		job := workload.Job{ID: 1, Submit: 2, Eligible: 3, Start: 4, End: 5, State: workload.Completed, Priority: 77}
		job.User, job.NodeSet = "word", "n[1-2]"
		if _, err := h.Add(t.Context(), []workload.Job{job}, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]workload.Job{job}, collect(t, h)); diff != "" {
			t.Errorf("of version %d: %s", version, diff)
		}
	}
}

func TestEachStartIsNewOnce(t *testing.T) {
	h := mustOpen(t, filepath.Join(t.TempDir(), "history.db"))
	add := func(jobs ...workload.Job) []workload.Job {
		t.Helper()
		started, err := h.Add(t.Context(), jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		return started
	}
	job := synthetic(1)[0]
	pending, running, other := job, job, job
	pending.Start, pending.End, pending.State = 0, 0, workload.Pending
	running.End, running.State = 0, workload.Running
	other.ID++
	if started := add(pending); len(started) != 0 {
		t.Errorf("a pending job is new: %v", started)
	}
	if started := add(running); len(started) != 1 {
		t.Errorf("a started job is not new: %v", started)
	}
	if started := add(job, other, running); len(started) != 1 || started[0].ID != other.ID {
		t.Errorf("new are %v, want only job %d", started, other.ID)
	}
	if diff := cmp.Diff([]workload.Job{job, other}, collect(t, h)); diff != "" {
		t.Errorf("the end was not taken over: %s", diff)
	}
	requeued := job
	requeued.Submit, requeued.Eligible, requeued.Start = job.Submit+9000, job.Submit+9000, job.Start+9999
	if started := add(requeued); len(started) != 1 {
		t.Error("the second run of a requeued job is not new")
	}
}

func TestPrune(t *testing.T) {
	h := mustOpen(t, filepath.Join(t.TempDir(), "history.db"))
	jobs := synthetic(100)
	slices.SortFunc(jobs, byStart)
	if _, err := h.Add(t.Context(), jobs, nil); err != nil {
		t.Fatal(err)
	}
	if err := h.Prune(t.Context(), jobs[40].Start); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, h); len(got) != 60 || got[0].ID != jobs[40].ID {
		t.Errorf("%d jobs are left", len(got))
	}
}

func TestDamagedFileIsMovedAside(t *testing.T) {
	for name, damage := range map[string]func(data []byte) []byte{
		"foreign trigger": func(data []byte) []byte {
			path := filepath.Join(t.TempDir(), "history.db")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := sqlitefile.Rewrite(t.Context(), path, "CREATE TRIGGER wrong AFTER INSERT ON jobs BEGIN DELETE FROM jobs; END"); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return data
		},
		"not a database": func([]byte) []byte { return bytes.Repeat([]byte("rubbish "), 1000) },
		"torn page": func(data []byte) []byte {
			for i := 3 * 4096; i < 5*4096 && i < len(data); i++ {
				data[i] = 0xA5
			}
			return data
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.db")
			h := mustOpen(t, path)
			if _, err := h.Add(t.Context(), synthetic(500), nil); err != nil {
				t.Fatal(err)
			}
			h.Close()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(data), 0o600); err != nil {
				t.Fatal(err)
			}
			h, aside, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			if _, err := os.Stat(aside); err != nil {
				t.Errorf("the damaged file is gone: %v", err)
			}
			if _, err := h.Add(t.Context(), synthetic(5), nil); err != nil {
				t.Errorf("the new file does not work: %v", err)
			}
			if got := collect(t, h); len(got) != 5 {
				t.Errorf("%d jobs in the new file, want 5", len(got))
			}
		})
	}
}

// BenchmarkLoadMillion loads a million past jobs from the file into a predictor, as varqd
// does when it starts.
func BenchmarkLoadMillion(b *testing.B) {
	path := filepath.Join(b.TempDir(), "history.db")
	h := mustOpen(b, path)
	for chunk := range slices.Chunk(synthetic(1_000_000), 50_000) {
		if _, err := h.Add(b.Context(), chunk, nil); err != nil {
			b.Fatal(err)
		}
	}
	h.Close()
	runtime.GC()
	for b.Loop() {
		h := mustOpen(b, path)
		p := qbets.New()
		loaded := 0
		for j, err := range h.Jobs(b.Context(), 1_000_000) {
			if err != nil {
				b.Fatal(err)
			}
			p.Learn(j)
			loaded++
		}
		if loaded != 1_000_000 {
			b.Fatalf("loaded %d", loaded)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MiB")
		runtime.KeepAlive(p)
		h.Close()
	}
}
