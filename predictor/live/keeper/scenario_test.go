package keeper

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// TestScenarios plays the stories in testdata. A story has scenes. Each scene begins at
// 08:00:00 with nothing promised and an empty queue, and its jobs wait for 10 minutes:
//
//	scene                begins a scene
//	scene pending        begins a scene: p is promised by 10:00, and its job 7 is pending;
//	                     with max-cost=N as below
//	at TIME              goes on with the scene at a later time
//
// Lines follow that say what happens, then ----, then the outcome. Go test's option
// -rewrite writes the outcome anew. Lines about the site:
//
//	wait|run SPAN                    from now on jobs wait, or run, for SPAN
//	node NAME lost|up                the node is down, or is not
//	history loading|loaded           the past is still being loaded, or is loaded
//	room none|enough                 running jobs leave no room, or enough
//	slurm down|up                    Slurm answers no call, or every call
//	accounting down|up [JOB]         the same for accounting, for all jobs or for one
//	updates refused|failing|lost|done what Slurm does with changes to jobs
//	owners refused|allowed           whether varqd may act as the jobs' owners
//	starts-when-changed JOB          the job starts just before Slurm changes it
//	ledger broken                    the ledger cannot be written any more
//	partition short SPAN             there is another partition, with MaxTime SPAN
//	max-nodes N                      the partition's QOS has MaxTRES node=N
//	max-wall SPAN                    the partition's QOS has MaxWall SPAN
//	drain NODE,...                   nodes are drained; the partition has a, b, c and d
//	max-hold N                       desk.Options.MaxHold
//	shadow                           desk.Options.Shadow from now on
//	rule KEY: VALUE, ...             another rule of the site's policy, in the words of varq.yaml
//	unclaimed USER N                 USER has N plans without a job
//	crash                            varqd is killed and started again
//	backup                           the ledger is backed up
//	restore                          it is restored as it was then
//
// Lines about users and their jobs. A job is alice's unless the line names another user.
// Everything happens now, or at=TIME:
//
//	promise|quote PLAN by TIME [to USER] [after TIME] [best-effort] [on-miss=cancel] [max-cost=N]
//	             [prob=P] [partition=NAME] [account=NAME] [tentative=SPAN] [home=NAME]
//	             [group-prob=P] [dependency=WHAT]
//	                                 max-cost is N node-hours, or with Nx N times the quote
//	promise|quote PLAN end [by TIME] [risk=P] ...
//	                                 of the job's end
//	accept JOB [up to N]             by alice, N node-hours at most
//	submit PLAN as JOB [by USER]     as the plan says
//	other JOB [by USER]              is submitted without a plan
//	bind PLAN to JOB [by USER]
//	cancel PLAN [by USER]
//	confirm PLAN as JOB [by USER]    a tentative promise
//	home up|down                     whether the home of the group answers
//	home-lies LIE                    it answers what is one of lies
//	group any|all by TIME PLAN as JOB [PLAN as JOB]
//	                                 registers the group of the plans that were promised with
//	                                 home=home; the first is at alpha, the other at beta
//	gate PLAN as JOB [by USER]       the job asks whether its work may begin
//	claim PLAN as JOB                the same, but the answer does not reach the site
//	give-up                          alice gives the group up
//	set JOB [when-read] FIELD=VALUE...
//	                                 user, submit, begin, limit, partition, qos, nodes, features,
//	                                 excluded, dependency, least-cpus, resources, licenses,
//	                                 reservation, nice, deadline, switches, contiguous, reason,
//	                                 stopped (why, with - for spaces); or held, interactive,
//	                                 completing, requeueing, comment= (PLAN, or none); when-read:
//	                                 just before the keeper reads the job once more
//	start JOB                        the job runs
//	suspend|resume JOB               by an operator
//	end JOB STATE                    the job moves from queue to accounting; at=- without an end;
//	                                 UNFULFILLED: Slurm cancels it, as its dependency fails
//	accounted JOB [again] FIELD=TIME...
//	                                 accounting reports this of its last run, or of another one:
//	                                 submit, start, end; - for none
//	requeue JOB [NODE_FAIL] [limit=SPAN]
//	                                 the same, and the job waits again, at least 2 minutes
//	vanish JOB                       the job leaves the queue, and is not in accounting
//
// Lines that call the keeper or show a state:
//
//	read                             the next Watch has the queue as it is now
//	watch [bound] [unread] [until TIME]
//	                                 Watch, or WatchBound, every second until TIME; unless
//	                                 unread, accounting has been read up to the present
//	learn JOB...                     ObserveAccounting
//	refresh                          Premises.Refresh
//	limits USER                      Desk.Limits
//	reservations|report USER [of USER] [JOB] [all]
//	show PLAN                        the plan's entry in the ledger
//	told                             the notices since the last of these lines
//	heard                            the calls of Outlook.Promise
//	counted                          the metrics that are not 0
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Parallel()
		var s *scene
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "scene":
				s = &scene{site: newSite(t), plans: map[string]*api.Plan{}, events: map[string]int{}}
				if d.HasArg("pending") {
					ceiling := ""
					d.MaybeScanArgs(t, "max-cost", &ceiling)
					s.play("promise p by 10:00 max-cost=" + ceiling + "\nsubmit p as 7\nwatch")
				}
			case "at":
				s.Clock = s.time(d.CmdArgs[0].Key)
			default:
				d.Fatalf(t, "there is no %q", d.Cmd)
			}
			return s.play(d.Input)
		})
	})
}

// play does what lines say, and returns the outcome.
func (s *scene) play(lines string) string {
	s.said.Reset()
	for line := range strings.Lines(lines) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		do := verbs[verb]
		if do == nil {
			s.T.Fatalf("%q: there is no such verb", line)
		}
		w := words(strings.Fields(rest))
		do(s, &w)
		if len(w) > 0 {
			s.T.Fatalf("%q: nobody understands %q", line, w)
		}
	}
	return s.said.String()
}

// scene is one scene of a story.
type scene struct {
	*site
	plans  map[string]*api.Plan // by the names that the story gives them
	events map[string]int       // by name: how many events of the plan have been shown
	said   strings.Builder
}

// words are the words of a line that have not been read yet.
type words []string

// next removes the first word and returns it.
func (w *words) next() string {
	if len(*w) == 0 {
		return ""
	}
	first := (*w)[0]
	*w = (*w)[1:]
	return first
}

// flag removes word, and reports whether it was there.
func (w *words) flag(word string) bool {
	i := slices.Index(*w, word)
	if i >= 0 {
		*w = slices.Delete(*w, i, i+1)
	}
	return i >= 0
}

// after removes word and its successor, and returns the successor.
func (w *words) after(word string) string {
	i := slices.Index(*w, word)
	if i < 0 {
		return ""
	}
	value := (*w)[i+1]
	*w = slices.Delete(*w, i, i+2)
	return value
}

// value removes the word NAME=VALUE, and returns VALUE.
func (w *words) value(name string) (value string, given bool) {
	for i, word := range *w {
		if value, given = strings.CutPrefix(word, name+"="); given {
			*w = slices.Delete(*w, i, i+1)
			return value, true
		}
	}
	return "", false
}

func (s *scene) say(format string, args ...any) { fmt.Fprintf(&s.said, format+"\n", args...) }

func (s *scene) must(err error) {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
}

// time parses a time. A time of day is on the scene's first day.
func (s *scene) time(text string) int64 {
	at, err := slurmtime.Parse(text, desktest.Epoch-3600, time.UTC)
	s.must(err)
	return at
}

// at removes at=TIME and returns the time, 0 for -, or the present time without it.
func (s *scene) at(w *words) int64 {
	if text, given := w.value("at"); given {
		if text == "-" {
			return 0
		}
		return s.time(text)
	}
	return s.Clock
}

func (s *scene) span(text string) int64 {
	seconds, err := slurmtime.ParseSpan(text)
	s.must(err)
	return seconds
}

func (s *scene) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	s.must(err)
	return n
}

// choose returns the value of word in of.
func choose[V any](s *scene, word string, of map[string]V) V {
	v, ok := of[word]
	if !ok {
		s.T.Fatalf("%q is none of %v", word, slices.Sorted(maps.Keys(of)))
	}
	return v
}
