package health

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/sacctmgr"
)

const t0 = 1_795_000_000 // Unix seconds

// entry is an entry of accounting from from until to, in seconds after t0; to is 0 if it has not
// ended.
func entry(node string, from, to int64, state, reason string) sacctmgr.Event {
	if to != 0 {
		to += t0
	}
	return sacctmgr.Event{Node: node, Start: t0 + from, End: to, State: state, Reason: reason}
}

// shows is a node in slurmctld. Its reason was set at a time in seconds after t0.
func shows(name, state, reason string, at int64) slurm.Node {
	n := slurm.Node{Name: name, State: state, Reason: reason, BootTime: t0 - 1_000_000}
	if reason != "" {
		n.ReasonAt, n.ReasonBy = t0+at, "root"
	}
	return n
}

// describe writes events as "seconds after t0: node kind".
func describe(events []fault.Event) []string {
	var list []string
	for _, e := range events {
		list = append(list, fmt.Sprintf("%d: %s %s", e.At-t0, e.Node, cmp.Or(e.Kind, "fails")))
	}
	return list
}

// look is one call of Observe, and the events that it is to return.
type look struct {
	at    int64 // seconds after t0
	past  []sacctmgr.Event
	nodes []slurm.Node
	want  []string
}

func TestObserve(t *testing.T) {
	type (
		entries = []sacctmgr.Event
		nodes   = []slurm.Node
	)
	const dead, upgrade, disk = "DOWN+NOT_RESPONDING", "upgrade", "bad disk controller"
	up := nodes{shows("a", "IDLE", "", 0)}
	for name, looks := range map[string][]look{
		"both sources tell a node that is down, once": {
			{100, entries{entry("a", 50, 0, dead, "Not responding")}, nodes{shows("a", dead, "Not responding", 51)}, []string{"50: a fails"}},
			{160, nil, nodes{shows("a", dead, "Not responding", 51)}, nil},
		},
		"slurmctld first, accounting later": {
			{0, nil, up, nil},
			{100, nil, nodes{shows("a", dead, "Not responding", 51)}, []string{"51: a fails"}},
			{160, entries{entry("a", 50, 0, dead, "Not responding")}, nil, nil},
			{200, nil, up, nil},
			{300, entries{entry("a", 50, 170, dead, "Not responding")}, nil, nil},
		},
		"it does not respond, is down, and is back; a day later again": {
			{0, nil, up, nil},
			{60, nil, nodes{shows("a", "IDLE+NOT_RESPONDING", "", 0)}, []string{"60: a not responding"}},
			{120, nil, nodes{shows("a", "MIXED+NOT_RESPONDING", "", 0)}, nil},
			{360, nil, nodes{shows("a", dead, "Not responding", 330)}, []string{"330: a fails"}},
			{900, nil, up, nil},
			{86400, nil, nodes{shows("a", dead, "Not responding", 86390)}, []string{"86390: a fails"}},
			{86500, nil, up, nil},
			{90000, entries{entry("a", 330, 880, dead, "Not responding"), entry("a", 86390, 86450, dead, "Not responding")}, up, nil},
		},
		"it goes and comes several times within minutes": {
			{100, entries{entry("a", 10, 20, dead, "Not responding"), entry("a", 40, 50, dead, "Not responding"), entry("a", 5000, 5010, dead, "Not responding")},
				nil, []string{"10: a fails", "5000: a fails"}},
		},
		// Slurm makes the entry when the last job has left.
		"a drain is asked for, and later complete": {
			{0, nil, up, nil},
			{100, nil, nodes{shows("a", "MIXED+DRAIN", upgrade, 90)}, []string{"90: a drained"}},
			{90000, entries{entry("a", 86400, 0, "IDLE+DRAIN", upgrade)}, nodes{shows("a", "IDLE+DRAIN", upgrade, 90)}, nil},
			{90100, nil, up, nil},
		},
		"the same with its reason changed, at the start": {
			{90000, entries{entry("a", 86400, 0, "IDLE+DRAIN", "upgrade of the kernel")}, nodes{shows("a", "IDLE+DRAIN", upgrade, 90)}, []string{"90: a drained"}},
		},
		"what is drained for work goes down": {
			{90000, entries{entry("a", 100, 200, "IDLE+DRAIN", upgrade), entry("a", 200, 0, "DOWN+DRAIN+NOT_RESPONDING", upgrade+" : Not responding")},
				nodes{shows("a", "DOWN+DRAIN+NOT_RESPONDING", upgrade+" : Not responding", 200)}, []string{"100: a drained", "200: a down"}},
			{90100, nil, nodes{shows("a", "IDLE+DRAIN", upgrade+" : Not responding", 200)}, nil},
			{90200, nil, up, nil},
		},
		"without accounting it is not known how it came to that": {
			{90000, nil, nodes{shows("a", "DOWN+DRAIN", upgrade+" : Not responding", 200)}, []string{"200: a down"}},
		},
		"what is draining goes down with its jobs": {
			{0, nil, nodes{shows("a", "MIXED+DRAIN", upgrade, 0)}, []string{"0: a drained"}},
			{60, nil, nodes{shows("a", "DOWN+DRAIN+NOT_RESPONDING", upgrade+" : Not responding", 50)}, []string{"50: a fails"}},
			{120, entries{entry("a", 50, 0, "DOWN+DRAIN+NOT_RESPONDING", upgrade+" : Not responding")}, nil, nil},
		},
		"somebody looks at what has failed": {
			{9000, entries{entry("a", 100, 200, dead, "Not responding"), entry("a", 200, 0, "DOWN", disk)}, nil, []string{"100: a fails"}},
			{9060, nil, nodes{shows("a", "DOWN", disk, 8000)}, nil},
			{9120, nil, nodes{shows("a", "DOWN", "hardware: "+disk, 9100)}, nil},
			{9180, nil, nodes{shows("a", "IDLE+DRAIN", "testing", 9150)}, []string{"9150: a drained"}},
		},
		"the state changes, the reason does not": {
			{0, nil, nodes{shows("a", "MIXED+DRAIN", "odd", -9000)}, []string{"-9000: a drained"}},
			{60, nil, nodes{shows("a", "DOWN+DRAIN", "odd", -9000)}, []string{"60: a fails"}},
		},
		"a reboot that is planned, and one that is not": {
			{0, nil, up, nil},
			{60, nil, nodes{shows("a", "DOWN+REBOOT_ISSUED", "update : reboot issued", 50)}, []string{"50: a reboot"}},
			{120, nil, nodes{{Name: "a", State: "IDLE", BootTime: t0 + 80}}, nil},
			{9000, nil, nodes{{Name: "a", State: "IDLE", BootTime: t0 + 81}}, nil},
			{9060, nil, nodes{{Name: "a", State: "IDLE", BootTime: t0 + 8990}}, []string{"8990: a fails"}},
			{9120, entries{entry("a", 50, 90, "DOWN+REBOOT_ISSUED", "update : reboot issued"), entry("a", 8980, 9010, dead, "Not responding")}, nil, nil},
		},
		"a clock is set, a cloud's node boots, and nobody has looked for long": {
			{0, nil, nodes{{Name: "a", State: "IDLE", BootTime: t0 - 9000}, {Name: "b", State: "IDLE+CLOUD", BootTime: t0 - 9000}, {Name: "c", State: "IDLE", BootTime: 0}}, nil},
			{60, nil, nodes{{Name: "a", State: "IDLE", BootTime: t0 - 5400}, {Name: "b", State: "IDLE+CLOUD", BootTime: t0 + 50}, {Name: "c", State: "IDLE", BootTime: t0 + 50}}, nil},
			{9000, nil, nodes{{Name: "a", State: "IDLE", BootTime: t0 + 8990}}, nil},
		},
		"a reboot that takes too long": {
			{90, entries{entry("a", 10, 30, "DOWN+REBOOT_ISSUED", "x : reboot issued"), entry("a", 30, 40, "DOWN", "x : reboot issued : reboot timed out")},
				nil, []string{"10: a reboot", "30: a fails"}},
		},
		"slurmctld has restarted": {
			{0, nil, nodes{shows("a", dead, "Not responding", -5)}, []string{"-5: a fails"}},
			{60, nil, nodes{{Name: "a", State: "UNKNOWN+NOT_RESPONDING"}}, nil},
			{120, nil, nodes{shows("a", dead, "Not responding", 119)}, nil},
		},
		"a cold start closes what was open, and marks all": {
			{90, entries{entry("a", 10, 50, "IDLE+DRAIN", upgrade), entry("a", 50, 60, "IDLE", "cold-start"), entry("b", 50, 60, "UNKNOWN", "cold-start"), entry("b", 60, 0, dead, "Not responding")},
				nil, []string{"10: a drained", "60: b fails"}},
		},
		"an entry that accounting has never closed": {
			{90, entries{entry("a", 10, 0, dead, "Not responding")}, up, []string{"10: a fails"}},
			{9000, nil, nodes{shows("a", dead, "Not responding", 8990)}, []string{"8990: a fails"}},
			{9060, nil, up, nil},
			{90000, entries{entry("a", 80000, 80010, "DOWN", "odd")}, up, []string{"80000: a fails"}},
		},
		"a drain that says that it failed goes on": {
			{0, nil, up, nil},
			{60, nil, nodes{shows("a", "MIXED+DRAIN", "Not responding", 50)}, []string{"50: a fails"}},
			{120, nil, nodes{shows("a", "IDLE+DRAIN", "Not responding", 50)}, nil},
			{180, nil, nodes{shows("a", "IDLE+DRAIN", "Not responding", 50)}, nil},
		},
		"slurmctld shows that it was drained before, and restarts": {
			{0, nil, up, nil},
			{60, nil, nodes{shows("a", "IDLE+DRAIN", "odd", 50)}, []string{"50: a drained"}},
			{120, nil, nodes{shows("a", "UNKNOWN+NOT_RESPONDING", "odd", 50)}, nil},
			{180, nil, nodes{shows("a", "DOWN+DRAIN", "odd", 50)}, []string{"180: a down"}},
		},
		"it has a note, and does not respond": {
			{0, nil, up, nil},
			{60, nil, nodes{shows("a", "IDLE+NOT_RESPONDING", "a note", -90000)}, []string{"60: a not responding"}},
		},
		// Slurm shows what it resumes as not responding until it has asked.
		"it is resumed": {
			{0, nil, nodes{shows("a", "IDLE+DRAIN", upgrade, -50)}, []string{"-50: a drained"}},
			{60, nil, nodes{shows("a", "IDLE+NOT_RESPONDING", "", 0)}, nil},
			{120, nil, nodes{shows("a", dead, "Not responding", 110)}, []string{"110: a fails"}},
		},
		"accounting answers late": {
			{90000, nil, nodes{shows("a", dead, "Not responding", 86400)}, []string{"86400: a fails"}},
			{90060, entries{entry("a", 330, 880, dead, "Not responding"), entry("a", 86400, 0, dead, "Not responding")}, nil, []string{"330: a fails"}},
		},
		"it goes and comes for long": {
			{9000, entries{entry("a", 10, 20, dead, ""), entry("a", 400, 500, dead, ""), entry("a", 1050, 1060, dead, "")}, nil, []string{"10: a fails"}},
		},
		"several nodes, in the order of the times": {
			{90, entries{entry("b", 10, 0, dead, "Not responding"), entry("c", 10, 20, "IDLE+DRAIN", "NHC: check_hw_ib: x"), entry("b", 30, 0, dead, disk)},
				nodes{shows("a", "MIXED+DRAIN", "Kill task failed", 5), shows("b", dead, "Not responding", 10)}, []string{"5: a kill task failed", "10: b fails", "10: c fails"}},
		},
	} {
		var m Monitor
		for i, l := range looks {
			got := describe(m.Observe(l.past, l.nodes, t0+l.at))
			if diff := gocmp.Diff(l.want, got); diff != "" {
				t.Errorf("%s: look %d (-want +got):\n%s", name, i, diff)
			}
		}
	}
}

func TestNodes(t *testing.T) {
	var m Monitor
	down := slurm.Node{Name: "b", State: "DOWN+DRAIN", Reason: "fan", ReasonBy: "oper", ReasonAt: t0 - 50, ResumeAfter: t0 + 3600}
	m.Observe([]sacctmgr.Event{entry("gone", 1, 2, "DOWN", "x")}, []slurm.Node{down, {Name: "a", State: "IDLE"}, {Name: "c", State: "IDLE+NOT_RESPONDING"}}, t0)
	m.Observe(nil, []slurm.Node{{Name: "b", State: "IDLE"}, {Name: "a", State: "MIXED"}, {Name: "c", State: "IDLE+NOT_RESPONDING"}, {Name: "d", State: "IDLE+POWERED_DOWN"}}, t0+60)
	want := []Status{{Node: "a", State: Up}, {Node: "b", State: Up, Since: t0 + 60}, {Node: "c", State: NotResponding, Since: t0}, {Node: "d", State: PoweredDown, Since: t0 + 60}}
	if diff := gocmp.Diff(want, m.Nodes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m.Observe(nil, []slurm.Node{down}, t0+120)
	want = []Status{{Node: "b", State: Down, Reason: "fan", By: "oper", Since: t0 - 50, Back: t0 + 3600}}
	if diff := gocmp.Diff(want, m.Nodes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOverlap: in whatever overlapping parts a history is read, the events are those of the whole.
func TestOverlap(t *testing.T) {
	reasons := []string{"Not responding", "upgrade", "Kill task failed", "bad DIMM", "odd : Not responding", "reboot requested : reboot issued", "cold-start"}
	states := []string{"DOWN+NOT_RESPONDING", "IDLE+DRAIN", "DOWN+DRAIN", "IDLE+FAIL", "DOWN+REBOOT_ISSUED"}
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var history []sacctmgr.Event
		for _, node := range []string{"a", "b"} {
			for at := int64(0); at < 1_000_000; {
				length := 1 + rnd.Int64N(20_000)
				history = append(history, entry(node, at, at+length, states[rnd.IntN(len(states))], reasons[rnd.IntN(len(reasons))]))
				at += length + rnd.Int64N(3)/2*rnd.Int64N(20_000) // often the next follows at once
			}
		}
		slices.SortFunc(history, func(a, b sacctmgr.Event) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.Node, b.Node))
		})
		var whole, parts Monitor
		want := describe(whole.Observe(history, nil, t0+2_000_000))
		var got []string
		for end := 0; end < len(history); {
			begin := max(0, end-rnd.IntN(5))
			end = min(len(history), end+1+rnd.IntN(5))
			got = append(got, describe(parts.Observe(history[begin:end], nil, t0+2_000_000))...)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d (-whole +parts):\n%s", seed, diff)
		}
		if again := parts.Observe(history, nil, t0+2_000_000); len(again) != 0 {
			t.Fatalf("seed %d: told again: %v", seed, describe(again))
		}
	}
}

// Nodes that come and go for ever fill no memory, and what happened to them lately is told once.
func TestVanishedNodesAreForgotten(t *testing.T) {
	var m Monitor
	const day, start = 86400, int64(1_700_000_000)
	for i := range int64(400) {
		now := start + i*day
		name := fmt.Sprint("cloud", i)
		past := []sacctmgr.Event{{Node: name, Start: now - 100, End: now - 50, State: "DOWN"}}
		for range 2 {
			m.Observe(past, []slurm.Node{{Name: name, State: "IDLE"}}, now)
		}
		if i%7 == 6 {
			past = append(past, sacctmgr.Event{Node: fmt.Sprint("cloud", i-6), Start: now - 6*day - 100, End: now - 6*day - 50, State: "DOWN"})
			if events := m.Observe(past, nil, now); len(events) > 0 {
				t.Fatalf("told again: %+v", events)
			}
		}
	}
	if len(m.nodes) > 32 {
		t.Errorf("%d nodes are known", len(m.nodes))
	}
}
