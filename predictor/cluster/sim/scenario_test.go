package sim

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// job returns a job in the short form of the scenarios. Its ID is its index in the list.
func job(submit int64, procs int32, limit, run int64) entry {
	return entry{submit: submit, procs: procs, limit: limit, run: run}
}

func (e entry) estimated(seconds int64) entry { e.estimate = seconds; return e }
func (e entry) askedFor(at int64) entry       { e.kind, e.asked = reserving, at; return e }
func (e entry) runsSince(at int64) entry      { e.kind, e.asked = placed, at; return e }
func (e entry) fails() entry                  { e.kind = failure; return e }

// scenarios are small enough to be drawn by hand.
var scenarios = []struct {
	name, says string
	workload   workload
	story      string
}{{
	name: "the head holds up all without backfilling",
	says: "Job 1 needs the whole machine. Job 2 would fit beside job 0, and waits.",
	workload: workload{procs: 4, entries: []entry{
		job(0, 2, 10, 10), job(1, 4, 5, 5), job(2, 2, 3, 3),
	}},
	story: `
		0 job 0 starts
		10 job 0 ends
		10 job 1 starts
		15 job 1 ends
		15 job 2 starts
		18 job 2 ends`,
}, {
	name: "EASY fills the hole before the shadow",
	says: "Job 1 starts at 10, with one processor to spare. Job 2 is over by then; job 3 is not, and takes the spare " +
		"one; for job 4 none is left.",
	workload: workload{procs: 5, backfill: sched.EASY, entries: []entry{
		job(0, 2, 10, 10), job(1, 4, 5, 5), job(1, 1, 9, 9), job(1, 1, 20, 20), job(1, 1, 10, 10),
	}},
	story: `
		0 job 0 starts
		1 job 2 starts
		1 job 3 starts
		10 job 0 ends
		10 job 2 ends
		10 job 1 starts
		15 job 1 ends
		15 job 4 starts
		21 job 3 ends
		25 job 4 ends`,
}, {
	name: "EASY delays the second of the queue",
	says: "Job 4 is over at 12, the shadow of the head, job 2. It takes what job 3 could have had at 7.",
	workload: workload{procs: 4, backfill: sched.EASY, entries: []entry{
		job(0, 2, 7, 7), job(0, 1, 12, 12), job(1, 4, 3, 3), job(1, 3, 5, 5), job(2, 1, 10, 10),
	}},
	story: `
		0 job 0 starts
		0 job 1 starts
		2 job 4 starts
		7 job 0 ends
		12 job 1 ends
		12 job 4 ends
		12 job 2 starts
		15 job 2 ends
		15 job 3 starts
		20 job 3 ends`,
}, {
	name: "conservative backfilling delays nobody",
	says: "The same jobs. Job 3 has its place at 7, which job 4 would take from it.",
	workload: workload{procs: 4, backfill: sched.Conservative, entries: []entry{
		job(0, 2, 7, 7), job(0, 1, 12, 12), job(1, 4, 3, 3), job(1, 3, 5, 5), job(2, 1, 10, 10),
	}},
	story: `
		0 job 0 starts
		0 job 1 starts
		7 job 0 ends
		7 job 3 starts
		12 job 1 ends
		12 job 3 ends
		12 job 2 starts
		15 job 2 ends
		15 job 4 starts
		25 job 4 ends`,
}, {
	name: "places move forward in the order of the queue",
	says: "Job 0 ends 6 early. Job 2 is too large for the hole, job 3 by a second too long, and job 4 fits.",
	workload: workload{procs: 4, backfill: sched.Conservative, entries: []entry{
		job(0, 2, 10, 4), job(0, 2, 10, 10), job(1, 4, 5, 5), job(1, 2, 7, 7), job(1, 2, 6, 6),
	}},
	story: `
		0 job 0 starts
		0 job 1 starts
		4 job 0 ends
		4 job 4 starts
		10 job 1 ends
		10 job 4 ends
		10 job 2 starts
		15 job 2 ends
		15 job 3 starts
		22 job 3 ends`,
}, {
	name: "conservative backfilling keeps its word to the job with more work",
	says: "Job 2 has less work than job 1, and comes when job 1 has its place.",
	workload: workload{procs: 2, order: "lwf", backfill: sched.Conservative, entries: []entry{
		job(0, 2, 10, 10), job(1, 2, 8, 8), job(2, 2, 3, 3),
	}},
	story: `
		0 job 0 starts
		10 job 0 ends
		10 job 1 starts
		18 job 1 ends
		18 job 2 starts
		21 job 2 ends`,
}, {
	name: "on the timeline the one with less work passes",
	says: "The same jobs.",
	workload: workload{procs: 2, order: "lwf", backfill: sched.Timeline, entries: []entry{
		job(0, 2, 10, 10), job(1, 2, 8, 8), job(2, 2, 3, 3),
	}},
	story: `
		0 job 0 starts
		10 job 0 ends
		10 job 2 starts
		13 job 2 ends
		13 job 1 starts
		21 job 1 ends`,
}, {
	name: "backfilling goes around a hard reservation",
	says: "Job 1 would not be over at 10, when the machine is promised to job 0; job 2 is.",
	workload: workload{procs: 4, backfill: sched.EASY, entries: []entry{
		job(0, 4, 5, 5).askedFor(10), job(1, 2, 12, 12), job(1, 2, 9, 9),
	}},
	story: `
		0 job 0 is promised 10
		1 job 2 starts
		10 job 2 ends
		10 job 0 starts
		15 job 0 ends
		15 job 1 starts
		27 job 1 ends`,
}, {
	name: "of two times equally near the earlier is taken",
	says: "Job 1 asks for 13, in the middle of job 0's reservation, and could have 6 or 20.",
	workload: workload{procs: 4, entries: []entry{
		job(0, 4, 10, 10).askedFor(10), job(0, 1, 4, 4).askedFor(13),
	}},
	story: `
		0 job 0 is promised 10
		0 job 1 is promised 6
		6 job 1 starts
		10 job 1 ends
		10 job 0 starts
		20 job 0 ends`,
}, {
	name: "the cheapest job is stopped, and starts anew",
	says: "Both jobs outlive their estimates. When job 2's time comes, job 0 has run for 14 seconds, job 1 for 9.",
	workload: workload{procs: 4, restart: &sched.Restart{A: 1}, entries: []entry{
		job(0, 2, 20, 20).estimated(8), job(5, 2, 20, 20).estimated(8), job(6, 2, 5, 5).askedFor(14),
	}},
	story: `
		0 job 0 starts
		5 job 1 starts
		6 job 2 is promised 14
		14 job 1 stops after 9
		14 job 2 starts
		19 job 2 ends
		19 job 1 starts
		20 job 0 ends
		39 job 1 ends`,
}, {
	name: "a stopped job may start again at once",
	says: "Job 2 is the cheapest, but the one processor that it frees is not enough, and then not needed.",
	workload: workload{procs: 4, backfill: sched.EASY, restart: &sched.Restart{A: 1}, entries: []entry{
		job(0, 3, 9, 3).askedFor(5), job(3, 2, 3, 5).estimated(2), job(3, 1, 10, 10).estimated(2),
	}},
	story: `
		0 job 0 is promised 5
		3 job 1 starts
		3 job 2 starts
		5 job 2 stops after 2
		5 job 1 stops after 2
		5 job 0 starts
		5 job 2 starts
		8 job 0 ends
		8 job 1 starts
		11 job 1 ends
		15 job 2 ends`,
}, {
	name: "a reservation is not offered the processors of a job that has just outlived its estimate",
	says: "At 5, job 0 is thought to run until 10.",
	workload: workload{procs: 1, restart: &sched.Restart{A: 1}, entries: []entry{
		job(0, 1, 20, 20).estimated(5), job(5, 1, 3, 3).askedFor(5),
	}},
	story: `
		0 job 0 starts
		5 job 1 is promised 10
		10 job 0 stops after 10
		10 job 1 starts
		13 job 1 ends
		13 job 0 starts
		33 job 0 ends`,
}, {
	name: "no job is thought to outlive its limit",
	says: "The shadow of job 1 is at 4, whatever job 0 is estimated to take: job 2 would delay it.",
	workload: workload{procs: 4, backfill: sched.EASY, entries: []entry{
		job(0, 3, 4, 4).estimated(9), job(1, 4, 2, 2), job(1, 1, 6, 6),
	}},
	story: `
		0 job 0 starts
		4 job 0 ends
		4 job 1 starts
		6 job 1 ends
		6 job 2 starts
		12 job 2 ends`,
}, {
	name: "a stopped reservation is a job like others",
	says: "At 8, job 0 makes room for job 1.",
	workload: workload{procs: 4, restart: &sched.Restart{A: 1}, entries: []entry{
		job(0, 2, 10, 10).estimated(3).askedFor(0), job(6, 4, 2, 2).askedFor(8),
	}, acts: []act{{at: 5, kind: stop, job: 0}}},
	story: `
		0 job 0 is promised 0
		0 job 0 starts
		5 job 0 stops after 5
		5 job 0 starts
		6 job 1 is promised 8
		8 job 0 stops after 3
		8 job 1 starts
		10 job 1 ends
		10 job 0 starts
		20 job 0 ends`,
}, {
	name: "nodes that are down for ever come back",
	says: "There is no place for job 1 until job 0, which stands for a node that is down, is given a limit.",
	workload: workload{procs: 4, backfill: sched.Conservative, entries: []entry{
		job(0, 1, never, never).fails(), job(1, 4, 5, 5),
	}, acts: []act{{at: 10, kind: shorten, job: 0, value: 10}}},
	story: `
		0 job 0 starts
		10 job 0 ends
		10 job 1 starts
		15 job 1 ends`,
}, {
	name: "a failure moves the shadow",
	says: "Job 1 would have left a processor to spare at 10, before job 3 took it down.",
	workload: workload{procs: 4, backfill: sched.EASY, entries: []entry{
		job(0, 2, 10, 10), job(1, 3, 5, 5), job(1, 2, 20, 20), job(2, 1, 30, 30).fails(), job(3, 1, 20, 20),
	}},
	story: `
		0 job 0 starts
		2 job 3 starts
		10 job 0 ends
		10 job 1 starts
		15 job 1 ends
		15 job 2 starts
		15 job 4 starts
		32 job 3 ends
		35 job 2 ends
		35 job 4 ends`,
}, {
	name: "a reservation moves the shadow",
	says: "Job 2 would not be over at 13, when job 1 is to start, until job 3 is promised 18: now that is 25.",
	workload: workload{procs: 4, backfill: sched.EASY, entries: []entry{
		job(2, 3, 11, 11), job(2, 4, 9, 6), job(5, 1, 9, 0), job(7, 4, 7, 7).askedFor(18),
	}},
	story: `
		2 job 0 starts
		7 job 3 is promised 18
		7 job 2 starts
		7 job 2 ends
		13 job 0 ends
		18 job 3 starts
		25 job 3 ends
		25 job 1 starts
		31 job 1 ends`,
}, {
	name: "a reservation that is given up makes room",
	says: "Job 1 would not be over at 10.",
	workload: workload{procs: 4, backfill: sched.EASY, entries: []entry{
		job(0, 1, 1, 1).askedFor(10), job(6, 4, 12, 12),
	}, acts: []act{{at: 7, kind: withdraw, job: 0}}},
	story: `
		0 job 0 is promised 10
		7 job 0 leaves
		7 job 1 starts
		19 job 1 ends`,
}, {
	name: "the timeline follows a new order",
	says: "Job 2 is smaller, and ahead of job 1 until at 10 age counts.",
	workload: workload{procs: 4, order: "aging", backfill: sched.Timeline, entries: []entry{
		job(0, 4, 20, 20), job(1, 4, 5, 5), job(6, 3, 5, 5),
	}, acts: []act{{at: 10, kind: reorder}}},
	story: `
		0 job 0 starts
		20 job 0 ends
		20 job 1 starts
		25 job 1 ends
		25 job 2 starts
		30 job 2 ends`,
}, {
	name: "a run starts in the middle",
	says: "Job 0 has run for 6 seconds of its 10 when the run begins at 100; job 1 has waited since 90.",
	workload: workload{procs: 4, start: 100, entries: []entry{
		job(80, 3, 10, 10).runsSince(94), job(90, 2, 5, 0), job(100, 4, 5, 5),
	}},
	story: `
		100 job 0 starts
		104 job 0 ends
		104 job 1 starts
		104 job 1 ends
		104 job 2 starts
		109 job 2 ends`,
}, {
	name: "jobs are prolonged, shortened and killed",
	says: "Job 1 becomes 3 seconds slower, and is killed at its limit; job 2 is given a smaller limit.",
	workload: workload{procs: 4, entries: []entry{
		job(1, 4, 8, 8), job(0, 2, 6, 4), job(0, 2, 9, 9),
	}, acts: []act{{at: 2, kind: prolong, job: 1, value: 3}, {at: 5, kind: shorten, job: 2, value: 7}}},
	story: `
		0 job 1 starts
		0 job 2 starts
		6 job 1 ends
		7 job 2 ends
		7 job 0 starts
		15 job 0 ends`,
}}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			w := s.workload
			for i := range w.entries {
				w.entries[i].id = int64(i)
			}
			want := strings.ReplaceAll(strings.TrimSpace(s.story), "\t", "")
			var p player
			if diff := cmp.Diff(want, tell(p.play(w))); diff != "" {
				t.Errorf("%s\n%v(-want +got)\n%s", s.says, w, diff)
			}
			if difference := differ(w); difference != "" {
				t.Error(difference)
			}
		})
	}
}
