package keeper

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// TestScenarios plays the stories in testdata. A story has scenes, and each begins
// at 08:00:00 with nothing promised and an empty queue, where jobs wait for 10
// minutes:
//
//	scene                begins one
//	scene pending        begins one where p is promised by 10:00, and its job 7 pending
//	at TIME              goes on with it at a later time
//
// What happens follows in lines, then ---- and what comes of it. Go test's option
// -rewrite writes that anew. What happens to the site:
//
//	wait SPAN                        jobs wait for so long from now on
//	history loading|loaded           the past is still being loaded, or is loaded
//	slurm down|up                    Slurm answers nothing, or everything
//	accounting down|up [JOB]         the same for accounting, of all jobs or of one
//	updates refused|lost|done        what Slurm does with changes to jobs
//	starts-when-changed JOB          the job starts when it is to be changed, by its old begin time
//	ledger broken                    the ledger can be written no more
//	partition short SPAN             there is another partition, of this MaxTime
//	max-hold N                       the site's bound on holding nodes, in time limits
//	unclaimed USER N                 so many plans of the user's without a job are counted
//	crash                            varqd is killed and started again
//
// What users do, and what becomes of their jobs. A job is one of alice's unless said
// otherwise, and what happens to it happens now, or at=TIME:
//
//	promise|quote PLAN by TIME [to USER] [after TIME] [best-effort] [on-miss=cancel]
//	submit PLAN as JOB [by USER]     with the plan's comment, as the plan says
//	bind PLAN to JOB [by USER]
//	set JOB FIELD=VALUE...           user, submit, begin, limit, partition; or held, comment=
//	start JOB                        it runs
//	end JOB STATE                    it goes from the queue to accounting
//	requeue JOB [limit=SPAN]         the same, and it waits again for 2 minutes at least
//	vanish JOB                       it goes from the queue, and accounting knows nothing
//
// What the keeper is called for, and what is looked at:
//
//	watch [unread] [until TIME]      it watches the queue, every second until then; unread
//	                                 leaves accounting read as far as it was
//	learn JOB...                     accounting tells of jobs that have ended
//	refresh                          it looks at the cluster
//	reservations|report USER [of USER] [JOB] [all]
//	show PLAN                        all that the ledger knows
//	heard                            what the forecasters have heard of promises
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Parallel()
		var s *scene
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "scene":
				s = &scene{site: newSite(t), plans: map[string]*api.Plan{}, events: map[string]int{}}
				if d.HasArg("pending") {
					s.play("promise p by 10:00\nsubmit p as 7\nwatch")
				}
			case "at":
				s.clock = s.time(d.CmdArgs[0].Key)
			default:
				d.Fatalf(t, "there is no %q", d.Cmd)
			}
			return s.play(d.Input)
		})
	})
}

// play does what lines say, and returns what comes of it.
func (s *scene) play(lines string) string {
	s.said.Reset()
	for line := range strings.Lines(lines) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		do := verbs[verb]
		if do == nil {
			s.t.Fatalf("%q: there is no such verb", line)
		}
		w := words(strings.Fields(rest))
		do(s, &w)
		if len(w) > 0 {
			s.t.Fatalf("%q: nobody understands %q", line, w)
		}
	}
	return s.said.String()
}

// scene is one scene of a story.
type scene struct {
	*site
	plans  map[string]*api.Plan // by the names that the story gives them
	events map[string]int       // how many of a plan's have been shown
	said   strings.Builder
}

// words are those of a line that nobody has taken yet.
type words []string

// next takes the first word.
func (w *words) next() string {
	if len(*w) == 0 {
		return ""
	}
	first := (*w)[0]
	*w = (*w)[1:]
	return first
}

// flag takes a word, and reports whether it was there.
func (w *words) flag(word string) bool {
	i := slices.Index(*w, word)
	if i >= 0 {
		*w = slices.Delete(*w, i, i+1)
	}
	return i >= 0
}

// after takes a word and the one that follows it, which it returns.
func (w *words) after(word string) string {
	i := slices.Index(*w, word)
	if i < 0 {
		return ""
	}
	value := (*w)[i+1]
	*w = slices.Delete(*w, i, i+2)
	return value
}

// value takes a word NAME=VALUE, and returns its value.
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
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// time reads a time: one of day means that of the scene's first day.
func (s *scene) time(text string) int64 {
	at, err := slurmtime.Parse(text, epoch-3600, s.Zone)
	s.must(err)
	return at
}

// at takes the time at which something happens, which is now unless given.
func (s *scene) at(w *words) int64 {
	if text, given := w.value("at"); given {
		return s.time(text)
	}
	return s.clock
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

// choose returns what a word stands for.
func choose[V any](s *scene, word string, of map[string]V) V {
	v, ok := of[word]
	if !ok {
		s.t.Fatalf("%q is none of %v", word, slices.Sorted(maps.Keys(of)))
	}
	return v
}
