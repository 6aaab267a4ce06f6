package twin

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/workload"
)

// TestRecords compares what records say of tasks with rollouts of the queue with each of them. Of a
// task behind all others they say the same. Of others what they say is near.
func TestRecords(t *testing.T) {
	for name, windows := range map[string]rollout.Windows{
		"always open":     nil,
		"closed at times": {{From: -900, To: -600}, {From: 1800, To: 9000}, {From: 40_000, To: 50_000}},
		"smaller at times": {
			{From: -900, To: -600, Left: 1, Of: 3}, {From: 1800, To: 3000, Left: 1, Of: 2}, {From: 3000, To: 9000, Left: 1, Of: 8},
			{From: 20_000, To: 25_000}, {From: 40_000, To: 90_000, Left: 9, Of: 10},
		},
	} {
		t.Run(name, func(t *testing.T) { compareRecords(t, windows) })
	}
}

// compareRecords is TestRecords where the pool is closed in windows, from the moment of the records
// on.
func compareRecords(t *testing.T, windows rollout.Windows) {
	random := rand.New(rand.NewPCG(1, 2))
	off, compared := 0., 0.
	for _, n := range []int{0, 1, 3, 30, 300} {
		w, now := busy(n, 1+random.IntN(200))
		closed := make(rollout.Windows, len(windows))
		for i, is := range windows {
			closed[i] = rollout.Window{From: now + is.From, To: now + is.To, Left: is.Left, Of: is.Of}
		}
		for i := range 40 {
			if i == 20 && len(closed) > 0 { // from here on it is closed at first
				closed[0].To = now + 300
			}
			r := request(1<<random.IntN(11), 600<<random.IntN(8))
			r.User, r.Partition = "user1", "batch"
			task := w.Task(r, now)
			if random.IntN(3) == 0 {
				task.Submit += random.Int64N(20_000)
			}
			s := w.Snapshot(r, now, 0)
			s.windows = closed
			for _, policy := range policies {
				for _, by := range []runTimes{medians, timeLimits} {
					var kept record
					kept.make(s, policy, by)
					if task.Procs > kept.procs {
						continue
					}
					got, want := kept.wait(&task, now, s.Free, nil, 0), s.wait(policy, task, by)
					if place := policy.Place(kept.tasks, task); got != want && place == len(kept.tasks) {
						t.Errorf("%d wait, %v: a wait of %d s, want %d", n, policy, got, want)
					}
					off += math.Abs(logWait(float64(got)) - logWait(float64(want)))
					compared++
				}
			}
		}
	}
	if off /= compared; off > .1 {
		t.Errorf("off by a factor of %.3f", math.Exp(off))
	}
	t.Logf("off by a factor of %.3f", math.Exp(off))
}

// TestRecordsAreRenewed: records of a long queue serve until much has changed, and those of a short
// one never do.
func TestRecordsAreRenewed(t *testing.T) {
	const procs = 2000
	b := sit(poolOf(procs))
	now := int64(1000)
	ask := func() Point {
		t.Helper()
		return b.w.Point(request(1, 600), now, 0)
	}
	for range procs {
		b.start(now, b.submit(now, 1, 900))
	}
	if got := ask(); got.Limits != 900 {
		t.Errorf("%+v", got)
	}
	now += 10
	for range procs / refreshed {
		b.submit(now, procs, 3600)
	}
	if got := ask(); got.Limits != 890 {
		t.Errorf("before the records are renewed: %+v", got)
	}
	b.submit(now, procs, 3600)
	if got := ask(); got.Limits != 890+3600*(procs/refreshed+1) {
		t.Errorf("after the records are renewed: %+v", got)
	}
	if got := b.w.Point(request(2*procs, 600), now, 0); got.Limits < 890 || !got.TooLarge {
		t.Errorf("more than there is: %+v", got)
	}
	newest := b.submit(now, procs, 3600)
	if got := b.w.Point(&newest.Request, now, newest.ID); got.Limits != 890+3600*(procs/refreshed+1) {
		t.Errorf("a job that the records do not have: %+v", got)
	}
	if got := b.w.Point(&newest.Request, now, newest.ID-1); got.Limits != 890+3600*(procs/refreshed+1) {
		t.Errorf("a job that the records have: %+v", got)
	}
	b.end(now, newest)
	now += mostKept + 1
	if got := ask(); got.Limits != 890-mostKept-1+3600*(procs/refreshed+1) {
		t.Errorf("when the records are old: %+v", got)
	}
	b.w.Resize(poolOf(procs + 1))
	if got := ask(); got.Limits != 0 {
		t.Errorf("in a larger pool: %+v", got)
	}
}

// TestNewcomers: jobs that have come since the records were made are ahead of those that come
// later, and not of themselves.
func TestNewcomers(t *testing.T) {
	const procs = 2000
	b := sit(poolOf(procs))
	for i := range int64(procs) {
		b.start(1000, b.submit(1000, 1, 900+i))
	}
	if got := b.w.Point(request(1, 600), 1000, 0); got.Limits != 900 {
		t.Errorf("before they come: %+v", got)
	}
	var newcomers []workload.Job
	for i := range int64(10) {
		if got := b.w.Point(request(1, 600), 1000, 0); got.Limits != 900+i {
			t.Errorf("behind %d of them: %+v", i, got)
		}
		newcomers = append(newcomers, b.submit(1000, 1, 600))
	}
	if got := b.w.Point(&newcomers[9].Request, 1000, newcomers[9].ID); got.Limits != 909 {
		t.Errorf("the last of them: %+v", got)
	}
	b.end(1000, newcomers[3])
	if got := b.w.Point(request(1, 600), 1000, 0); got.Limits != 909 {
		t.Errorf("after one is cancelled: %+v", got)
	}
}

// TestRecordsWithoutAJob: a job that is asked about while records are made is ahead of those that
// come after it.
func TestRecordsWithoutAJob(t *testing.T) {
	const procs = 2000
	b := sit(poolOf(procs))
	for i := range int64(procs) {
		b.start(1000, b.submit(1000, 1, 900+i))
	}
	waits := b.submit(1000, procs, 600)
	if got := b.w.Point(&waits.Request, 1000, waits.ID); got.Limits != 900+procs-1 {
		t.Errorf("the job: %+v", got)
	}
	if got := b.w.Point(request(1, 600), 1000, 0); got.Limits < 900+procs-1 {
		t.Errorf("one that comes after it: %+v", got)
	}
}

// TestRecordsKnowTheOrder: with many jobs as with few, a job whose QOS is full is ahead of that QOS
// only, and Ahead is what goes before a job by Slurm's priorities.
func TestRecordsKnowTheOrder(t *testing.T) {
	const procs = 2000
	b := sit(poolOf(procs))
	for range procs {
		b.start(1000, b.submit(1000, 1, 900))
	}
	submit := func(qos string, full bool, priority int64) {
		b.id++
		j := workload.Job{ID: b.id, Submit: 1005, QOSFull: full, Priority: priority}
		j.QOS, j.CPUs, j.Limit = qos, procs, 3600
		b.q.Submit(j)
		b.w.Submitted(&j)
	}
	submit("small", true, 300)
	submit("small", true, 100)
	submit("large", false, 200)
	for qos, want := range map[string]int64{"small": 890 + 3*3600, "large": 890 + 3600} {
		r := request(procs, 600)
		r.QOS = qos
		got := b.w.Point(r, 1010, 0)
		if got.Limits != want {
			t.Errorf("%s: %d s behind all others, want %d", qos, got.Limits, want)
		}
		task := b.w.Task(r, 1010)
		if fresh := b.w.Snapshot(r, 1010, 0).ahead(&task); !got.Ordered || got.Ahead != fresh || fresh == 0 {
			t.Errorf("%s: %d s ahead, want %d", qos, got.Ahead, fresh)
		}
	}
	if kept := b.w.partitions.byPool["all"].records; len(kept) != 2 {
		t.Errorf("%d records, want those of the full QOS and of the others", len(kept))
	}
}
