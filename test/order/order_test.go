package order

import (
	"encoding/json"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/thorough"
)

// line returns the line of a recording of a job of a project.
func line(t *testing.T, at int64, j workload.Job, reason string) string {
	t.Helper()
	text, err := json.Marshal(Sighting{At: at, Job: j, Reason: reason})
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// What is read of a recording is what happened to each job: its priority when it began to wait, and
// what changed.
func TestRead(t *testing.T) {
	j := workload.Job{ID: 7, Submit: 1000, Eligible: 1000, State: workload.Pending, Priority: 5000}
	waits, later, runs := j, j, j
	later.Priority = 5000 + 20000/180 // after ten seconds of 1800
	runs.State, runs.Start, runs.Priority = workload.Running, 1011, 0
	ended := runs
	ended.State, ended.End = workload.Completed, 1040
	r, err := Read(strings.NewReader(line(t, 1000, waits, "Priority") + line(t, 1010, later, "MaxCpuPerAccount") + line(t, 1012, runs, "None") + line(t, 2000, ended, "")))
	if err != nil || len(r.jobs) != 1 || len(r.changes) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	want := workload.Job{
		ID: 7, Submit: 1000 * Quicker, Eligible: 1000 * Quicker, Start: 1011 * Quicker, End: 1040 * Quicker, State: workload.Completed, Priority: 5000, AtLimit: true,
	}
	if !cmp.Equal(r.jobs[0], want) || r.changes[0].Job.Priority != 5000 || !r.changes[0].Job.AtLimit || r.changes[0].At != 1010*Quicker {
		t.Errorf("%+v and %+v, want %+v", r.jobs[0], r.changes[0], want)
	}
	if len(r.outlooks) != 0 {
		t.Errorf("%d outlooks", len(r.outlooks))
	}
	if _, err := Read(strings.NewReader("nonsense")); err == nil {
		t.Error("nonsense is read")
	}
}

// A replay asks twice about each job, knows no more than it is to, and Compare writes a line for
// each quantile, knowledge and question.
func TestCompare(t *testing.T) {
	const jobs = 200
	random := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	now := int64(2_000_000)
	for id := range int64(jobs) {
		now += random.Int64N(5)
		j := workload.Job{ID: id + 1, Submit: now, Eligible: now, State: workload.Pending, Priority: 1000 + random.Int64N(1000)}
		j.CPUs, j.Limit = 8, 60
		text.WriteString(line(t, now, j, []string{"Priority", "QOSGrpCpuLimit"}[id%2]))
		j.Start, j.End, j.State, j.Priority = now+random.Int64N(30), now+60, workload.Completed, 0
		text.WriteString(line(t, 3_000_000, j, ""))
	}
	r, err := Read(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Known {
		before, after := 0, 0
		r.Replay(k, func(j *workload.Job, submitted bool, _ forecast.Forecaster) {
			if submitted {
				after++
			} else {
				before++
			}
			if (j.Priority != 0) != k.Order || j.QOSFull && !k.QOSFull {
				t.Errorf("%s: %+v", k.Name, j)
			}
		})
		if before != jobs || after != jobs {
			t.Errorf("%s: %d questions before, and %d after", k.Name, before, after)
		}
	}
	var said strings.Builder
	if err := r.Compare(&said); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(said.String(), "\n"); lines != 3+2*len(Known)*len(quantiles) {
		t.Errorf("%d lines:\n%s", lines, said.String())
	}
}

// When Slurm expects jobs to start is recorded when it has changed, and read as it was at each
// time.
func TestOutlook(t *testing.T) {
	var text strings.Builder
	recorder, last := Recorder{To: &text}, map[int64]int64{}
	for at, expected := range [][3]int64{{1500, 1600, 0}, {1500, 1650, 0}, {0, 1650, 1700}} {
		var queue []slurm.QueueEntry
		for id, time := range expected {
			queue = append(queue, slurm.QueueEntry{Job: workload.Job{ID: int64(id + 1), State: workload.Pending}, Expected: time})
		}
		queue = append(queue, slurm.QueueEntry{Job: workload.Job{ID: 9, State: workload.Running}})
		if err := recorder.outlook(queue, 1000+int64(at), last); err != nil {
			t.Fatal(err)
		}
	}
	if want := `{"at":1000,"expected":{"1":1500,"2":1600}}
{"at":1001,"expected":{"2":1650}}
{"at":1002,"expected":{"1":0,"3":1700}}
`; text.String() != want {
		t.Errorf("recorded:\n%s", text.String())
	}
	r, err := Read(strings.NewReader(text.String()))
	if err != nil || len(r.jobs) != 0 || len(r.outlooks) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	want := outlook{1002 * Quicker, map[int64]int64{1: 0, 2: 1650 * Quicker, 3: 1700 * Quicker}}
	if got := r.outlooks[2]; got.at != want.at || !maps.Equal(got.expected, want.expected) || r.outlooks[0].expected[2] != 1600*Quicker {
		t.Errorf("%+v, want %+v", r.outlooks, want)
	}
}

// Jobs are asked about while they wait. CompareRests finds that an estimate which is always right
// is off by nothing, and that one of two and a half times the wait is off. So does CompareTested.
func TestCompareRests(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	record := func(times float64) *Recording {
		var text strings.Builder
		expected := map[int64]int64{}
		now := int64(2_000_000)
		for id := int64(1); id <= 200; id++ {
			now += 1 + random.Int64N(4)
			j := workload.Job{ID: id, Submit: now, Eligible: now, State: workload.Pending}
			j.CPUs, j.Limit = 8, 60
			text.WriteString(line(t, now, j, "Priority"))
			j.Start, j.End, j.State = now+20+random.Int64N(30), now+60, workload.Completed
			expected[id] = now + int64(times*float64(j.Start-now))
			for _, s := range []Sighting{{At: now, Expected: map[int64]int64{id: expected[id]}}, {At: now, Tested: map[int64]int64{id: expected[id]}}} {
				outlook, err := json.Marshal(s)
				if err != nil {
					t.Fatal(err)
				}
				text.Write(append(outlook, '\n'))
			}
			text.WriteString(line(t, 3_000_000, j, ""))
		}
		r, err := Read(strings.NewReader(text.String()))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := record(1)
	asked := 0
	r.ReplayRests(Known[0], func(j *workload.Job, now, expected int64, _ forecast.Forecaster) {
		asked++
		if expected != j.Start || now >= j.Start || now < j.Submit {
			t.Fatalf("job %d is expected at %d, at %d: %+v", j.ID, expected, now, j)
		}
	})
	if asked < 600 {
		t.Errorf("asked %d times", asked)
	}
	for name, compare := range map[string]func(*Recording, io.Writer) error{"rests": (*Recording).CompareRests, "tested": (*Recording).CompareTested} {
		var said strings.Builder
		for _, times := range []float64{1, 2.5} {
			if err := compare(record(times), &said); err != nil {
				t.Fatal(err)
			}
		}
		var lines [][]string
		for _, l := range strings.Split(said.String(), "\n") {
			if strings.HasPrefix(l, "Slurm's") {
				lines = append(lines, strings.Fields(l))
			}
		}
		if len(lines) != 2 || len(lines[1]) < 15 {
			t.Fatalf("%s: said:\n%s", name, said.String())
		}
		const off, double, by = 1, 11, 14 // the columns; those between have intervals
		if right, late := lines[0], lines[1]; right[off] != "0" || right[double] != "1.000" || late[off] == "0" || late[double] != "0.000" || late[by] != "1.000" {
			t.Errorf("%s: said:\n%s", name, said.String())
		}
		said.Reset()
		if err := compare(new(Recording), &said); err != nil || !strings.Contains(said.String(), "does not tell") {
			t.Errorf("%s: %v, said: %s", name, err, said.String())
		}
	}
}

// When a job would start is read from what sbatch --test-only says.
func TestTested(t *testing.T) {
	tested := tests{start: map[int64]int64{}}
	tested.add("17\n", "sbatch: Job 16 to start at 2026-11-29T16:00:05 using 8 processors on nodes node[1-2] in partition main\n")
	tested.add("18\n", "allocation failure: Job violates accounting/QOS policy\n")
	want := time.Date(2026, 11, 29, 16, 0, 5, 0, time.Local).Unix()
	if len(tested.start) != 1 || tested.start[17] != want {
		t.Errorf("%v", tested.start)
	}
}

// TestTwin: on recordings of a real Slurm, with what it says of its order, simulations are much
// nearer to the waits that came.
func TestTwin(t *testing.T) {
	thorough.Only(t)
	for _, name := range []string{"campaigns", "unseen", "estimates"} {
		t.Run(name, func(t *testing.T) { nearer(t, "testdata/"+name+".jsonl.gz") })
	}
}

func nearer(t *testing.T, name string) {
	r, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	log := func(wait int64) float64 { return math.Log(1800 + float64(wait)) }
	errorOf := func(k Knowledge) (before, after float64) {
		q := new(queue.Queue)
		w := twin.New(q, pools)
		if k.Order {
			w.Age(aging)
		}
		var sums, n [2]float64
		r.live(k, q, w, func(j *workload.Job, submitted bool) {
			id, when := int64(0), 0
			if submitted {
				id, when = j.ID, 1
			}
			p := w.Point(&j.Request, j.Since(), id)
			wait, _ := j.Wait()
			sums[when] += math.Abs(log(p.Expected) - log(wait))
			n[when]++
		}, nil)
		return sums[0] / n[0], sums[1] / n[1]
	}
	nothing, _ := errorOf(Known[0])
	for _, k := range Known[1:] {
		before, after := errorOf(k)
		t.Logf("errors of log(half an hour + wait): %.3f with %s before the submission, %.3f after it, and %.3f without", before, k.Name, after, nothing)
		if k.Order && max(before, after) > .75*nothing {
			t.Errorf("%s: not much nearer", k.Name)
		}
	}
}

// TestBesideSlurm: on a recording of a real Slurm, how much longer jobs wait is forecast much
// nearer to what came than Slurm itself expects.
func TestBesideSlurm(t *testing.T) {
	thorough.Only(t)
	r, err := Open("testdata/estimates.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	var varq, itself float64
	n := 0
	r.ReplayRests(Known[3], func(j *workload.Job, now, expected int64, f forecast.Forecaster) {
		if expected < now {
			return
		}
		q := restOf(j, now)
		var a forecast.Answer
		f.Forecast(&q, &a)
		varq += math.Abs(min(a.Wait.Quantile(.5), delay.At(delay.Points-1)) - float64(j.Start-now))
		itself += math.Abs(float64(expected - j.Start))
		n++
	})
	t.Logf("off by %.0f s, and Slurm by %.0f s, of %d", varq/float64(n)/Quicker, itself/float64(n)/Quicker, n)
	if n < 3000 || varq > .4*itself {
		t.Error("not much nearer")
	}
}

// The same seed draws the same campaigns, whose jobs fit on the cluster.
func TestDraw(t *testing.T) {
	a, b := rand.New(rand.NewPCG(5, 1)), rand.New(rand.NewPCG(5, 1))
	for range 1000 {
		one, other := draw(a), draw(b)
		if len(one.jobs) != len(other.jobs) || one.cpus > nodes*cpus {
			t.Fatalf("%+v and %+v", one, other)
		}
		for i, j := range one.jobs {
			if j != other.jobs[i] || j.run.Seconds() > float64(60*j.limit) || j.run <= 0 {
				t.Fatalf("%+v and %+v", j, other.jobs[i])
			}
		}
	}
}
