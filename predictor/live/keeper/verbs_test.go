package keeper

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/workload"
)

// verbs has a function for each first word of a line.
var verbs = map[string]func(s *scene, w *words){
	"wait": func(s *scene, w *words) { s.Outlook.Delay = s.span(w.next()) },
	"run":  func(s *scene, w *words) { s.Outlook.RunTime = s.span(w.next()) },
	"node": (*scene).node,
	"history": func(s *scene, w *words) {
		word := w.next()
		s.Outlook.Loading = choose(s, word, map[string]error{"loaded": nil, "learning": nil, "loading": errors.New("varqd has just started and reads its past (42 %)")})
		s.Outlook.Learns = word == "learning"
	},
	"room": func(s *scene, w *words) {
		s.Outlook.Full = choose(s, w.next(), map[string]bool{"enough": false, "none": true})
	},
	"slurm": func(s *scene, w *words) {
		s.Slurm.Down = choose(s, w.next(), map[string]error{"up": nil, "down": slurm.ErrUnavailable})
	},
	"accounting": func(s *scene, w *words) {
		down, job := choose(s, w.next(), map[string]bool{"up": false, "down": true}), int64(0)
		if len(*w) > 0 {
			job = s.number(w.next())
		}
		s.Slurm.AccountingDown[job] = down
	},
	"updates": func(s *scene, w *words) {
		word := w.next()
		s.Slurm.Updates = choose(s, word, map[string]error{"done": nil, "lost": nil, "refused": slurm.ErrPermission, "failing": slurm.ErrRefused})
		s.Slurm.UpdatesLost = word == "lost"
	},
	"owners": func(s *scene, w *words) {
		s.Slurm.OwnersRefused = choose(s, w.next(), map[string]bool{"allowed": false, "refused": true})
	},
	"ledger":    func(s *scene, w *words) { choose(s, w.next(), map[string]func() error{"broken": s.File.Close})() },
	"partition": func(s *scene, w *words) { w.flag("short"); s.Slurm.Short = s.span(w.next()) },
	"max-nodes": func(s *scene, w *words) { s.Slurm.Limits.MaxTRES = limits.TRES{"node": s.number(w.next())} },
	"max-wall":  func(s *scene, w *words) { s.Slurm.Limits.MaxWall = s.span(w.next()) },
	"drain":     func(s *scene, w *words) { s.Slurm.Drained = strings.Split(w.next(), ",") },
	"max-hold":  func(s *scene, w *words) { s.desk.MaxHold = float64(s.number(w.next())) },
	"shadow":    func(s *scene, _ *words) { s.desk.Shadow = true },
	"rule":      (*scene).rule,
	"limits":    (*scene).limits,
	"unclaimed": (*scene).unclaimed,
	"crash":     func(s *scene, _ *words) { s.crash() },
	"backup":    func(s *scene, _ *words) { s.backup() },
	"restore":   func(s *scene, _ *words) { s.restored() },
	"promise":   func(s *scene, w *words) { s.plan(w, true) },
	"quote":     func(s *scene, w *words) { s.plan(w, false) },
	"submit":    (*scene).submit,
	"other":     (*scene).other,
	"bind":      (*scene).bind,
	"accept":    (*scene).accept,
	"cancel":    (*scene).cancel,
	"confirm":   (*scene).confirm,
	"group":     (*scene).group,
	"give-up": func(s *scene, _ *words) {
		s.must(s.homes.CancelGroup(s.T.Context(), "alice", api.GroupCancellation{Group: groupID}))
	},
	"gate": (*scene).gate,
	"claim": func(s *scene, w *words) {
		p := s.plans[w.next()]
		_, err := s.homes.Claim(s.T.Context(), "home", api.GroupClaim{Group: groupID, Plan: p.ID, Job: s.number(w.after("as")), User: "alice"})
		s.must(err)
	},
	"home": func(s *scene, w *words) {
		s.homes.down = choose(s, w.next(), map[string]error{"up": nil, "down": errors.New("no route to host")})
	},
	"home-lies":           func(s *scene, w *words) { s.homes.lie = choose(s, w.next(), lies) },
	"set":                 (*scene).set,
	"start":               (*scene).start,
	"starts-when-changed": func(s *scene, w *words) { s.Slurm.StartsAtUpdate = s.number(w.next()) },
	"suspend":             (*scene).suspend,
	"resume":              (*scene).resume,
	"end":                 func(s *scene, w *words) { s.end(s.number(w.next()), w.next(), s.at(w)) },
	"accounted":           (*scene).account,
	"requeue":             (*scene).requeue,
	"vanish":              func(s *scene, w *words) { delete(s.Slurm.Pending, s.number(w.next())) },
	"read":                func(s *scene, _ *words) { s.readQueue() },
	"watch":               (*scene).watches,
	"learn":               (*scene).learn,
	"refresh":             func(s *scene, _ *words) { s.Refresh() },
	"reservations":        (*scene).reservations,
	"report":              (*scene).report,
	"show":                (*scene).show,
	"told":                func(s *scene, _ *words) { s.tellNotices() },
	"heard":               func(s *scene, _ *words) { s.heard() },
	"counted":             func(s *scene, _ *words) { s.counted() },
}

// counted shows the metrics that are not 0.
func (s *scene) counted() {
	families, err := s.Registry.Gather()
	s.must(err)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, pair := range metric.GetLabel() {
				labels = append(labels, pair.GetValue())
			}
			if n := metric.GetCounter().GetValue(); n != 0 {
				fmt.Fprintf(&s.said, "%s %s: %.5g\n", family.GetName(), strings.Join(labels, " "), n)
			}
		}
	}
}

// unclaimed writes plans without a job into the ledger, due at noon.
func (s *scene) unclaimed(w *words) {
	user := w.next()
	for range s.number(w.next()) {
		p := api.Plan{ID: api.NewPlanID(), BeginBy: s.time("12:00")}
		s.must(s.Ledger.Promise(s.T.Context(), &api.Reservation{Plan: p, User: user, Promised: s.Clock}, 0))
	}
}

// rule adds a rule to the site's policy, in the words of varq.yaml.
func (s *scene) rule(w *words) {
	c, err := config.Parse("varq.yaml", []byte("policy: [{"+strings.Join(*w, " ")+"}]"))
	s.must(err)
	*w = nil
	s.desk.Policy = append(s.desk.Policy, c.Rules()...)
}

// limits shows what the policy allows a user, and what she uses of it.
func (s *scene) limits(w *words) {
	l, err := s.desk.Limits(s.T.Context(), w.next())
	s.must(err)
	s.say("%s has %d open reservations and %.2f node-hours", l.User, l.Open, l.NodeSeconds/3600)
	for _, r := range l.Rules {
		text, err := json.Marshal(r)
		s.must(err)
		s.say("  %s", text)
	}
}

// plan asks for a reservation, and remembers its plan by a name.
func (s *scene) plan(w *words, promise bool) {
	name := w.next()
	end, by := w.flag("end"), int64(0)
	if text := w.after("by"); text != "" {
		by = s.time(text)
	}
	req := desktest.Request(by)
	if end {
		req.BeginBy, req.FinishBy = 0, by
	}
	if text, _ := w.value("risk"); text != "" {
		var err error
		req.Risk, err = strconv.ParseFloat(text, 64)
		s.must(err)
	}
	if after := w.after("after"); after != "" {
		req.BeginAfter = s.time(after)
	}
	req.Job.Partition, _ = w.value("partition")
	req.Job.Account, _ = w.value("account")
	if text, _ := w.value("prob"); text != "" {
		var err error
		req.Prob, err = strconv.ParseFloat(text, 64)
		s.must(err)
	}
	if text, _ := w.value("group-prob"); text != "" {
		var err error
		req.GroupProb, err = strconv.ParseFloat(text, 64)
		s.must(err)
	}
	if text, given := w.value("tentative"); given {
		req.Tentative = s.span(text)
	}
	req.BestEffort = w.flag("best-effort")
	if home, given := w.value("home"); given {
		req.Group, req.Home = groupID, home
	}
	req.OnMiss, _ = w.value("on-miss")
	req.Dependency, _ = w.value("dependency")
	if text, _ := w.value("max-cost"); text != "" {
		times, isTimes := strings.CutSuffix(text, "x")
		n, err := strconv.ParseFloat(times, 64)
		s.must(err)
		if isTimes {
			req.MaxCost.Times = n
		} else {
			req.MaxCost.NodeSeconds = n * 3600
		}
	}
	answer, err := s.desk.Plan(s.T.Context(), cmp.Or(w.after("to"), "alice"), req, promise)
	switch {
	case err != nil:
		s.say("%s: %s", name, faultText(err))
	case answer.Plan != nil && answer.Refusal == nil:
		p, verb := answer.Plan, "quoted"
		if p.ID != "" {
			s.plans[name], verb = p, "promised"
		}
		if end {
			s.say("%s: %s with probability %v: end by %s, limit %s, expected to start %s, %v for time-outs and %v for failures", name, verb, p.Prob, desktest.Clock(p.FinishBy), desktest.Span(p.TimeLimit), desktest.Clock(p.Slot), p.TimeOut, p.Lost)
		} else {
			s.say("%s: %s with probability %v: begin %s, limit %s, work from %s", name, verb, p.Prob, desktest.Clock(p.BeginTime), desktest.Span(p.TimeLimit), desktest.Clock(p.HoldUntil))
		}
		for _, o := range answer.Offers {
			s.say("  offer: %s", strings.Join(o.Options(req, time.UTC), " "))
		}
	case answer.Refusal != nil && answer.Refusal.Rule != "":
		s.say("%s: refused: %s", name, answer.Refusal.Reason)
	case answer.Refusal != nil && answer.Plan == nil:
		s.say("%s: refused: %s (limit: %q)", name, answer.Refusal.Reason, answer.Refusal.Limit)
		for _, o := range answer.Refusal.Offers {
			s.say("  offer: %s", strings.Join(o.Options(req, time.UTC), " "))
		}
	default:
		s.T.Fatalf("neither a plan nor a refusal: %+v", answer)
	}
}

// faultText formats an error, with its kind.
func faultText(err error) string {
	for name, kind := range map[string]error{
		"invalid": api.ErrInvalid, "forbidden": api.ErrForbidden, "not found": api.ErrNotFound,
		"conflict": api.ErrConflict, "unavailable": api.ErrUnavailable,
	} {
		if errors.Is(err, kind) {
			return fmt.Sprintf("%s: %v", name, err)
		}
	}
	return "internal error: " + err.Error()
}

func (s *scene) submit(w *words) {
	p := s.plans[w.next()]
	id := s.number(w.after("as"))
	s.Slurm.Pending[id] = slurm.QueueEntry{Name: cmp.Or(w.after("named"), "wrap"), Job: workload.Job{
		ID: id, Submit: s.Clock, Eligible: max(s.Clock, p.SubmitBegin()), State: workload.Pending, Comment: "mine " + p.Comment,
		Request: workload.Request{
			User: cmp.Or(w.after("by"), "alice"), Account: "phys", Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: p.TimeLimit,
		},
	}}
}

func (s *scene) other(w *words) {
	id := s.number(w.next())
	s.Slurm.Pending[id] = slurm.QueueEntry{Job: workload.Job{
		ID: id, Submit: s.Clock, Eligible: s.Clock, State: workload.Pending,
		Request: workload.Request{User: cmp.Or(w.after("by"), "alice"), Account: "phys", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 3600},
	}}
}

func (s *scene) bind(w *words) {
	plan := s.plans[w.next()].ID
	job, user := s.number(w.after("to")), cmp.Or(w.after("by"), "alice")
	if err := s.keeper.Bind(s.T.Context(), user, api.Binding{Plan: plan, Job: job}); err != nil {
		s.say("%s", s.named(faultText(err)))
	} else {
		s.say("bound")
	}
}

func (s *scene) accept(w *words) {
	a := api.Acceptance{Job: s.number(w.next())}
	if text := w.after("to"); w.flag("up") {
		n, err := strconv.ParseFloat(text, 64)
		s.must(err)
		a.Worst.NodeSeconds = n * 3600
	}
	r, err := s.keeper.Accept(s.T.Context(), "alice", a)
	switch {
	case err != nil:
		s.say("%s", faultText(err))
	case r.Moved:
		s.say("accepted: at most %s; moved to begin %s with limit %s, now %v", r.Ceiling, desktest.Clock(r.Set.BeginTime), desktest.Span(r.Set.TimeLimit), forecastOf(&r.Reservation))
	default:
		s.say("accepted: at most %s; not moved: %s", r.Ceiling, r.Unmoved)
	}
	s.sayCalls()
}

func (s *scene) cancel(w *words) {
	plan := s.plans[w.next()].ID
	if err := s.keeper.Cancel(s.T.Context(), cmp.Or(w.after("by"), "alice"), api.Cancellation{Plan: plan}); err != nil {
		s.say("%s", s.named(faultText(err)))
	} else {
		s.say("taken back")
	}
}

func (s *scene) confirm(w *words) {
	plan := s.plans[w.next()].ID
	job := s.number(w.after("as"))
	if err := s.keeper.Confirm(s.T.Context(), cmp.Or(w.after("by"), "alice"), api.Confirmation{Plan: plan, Job: job}); err != nil {
		s.say("%s", s.named(faultText(err)))
	} else {
		s.say("confirmed")
	}
	s.sayCalls()
}

// groupID is the group of a scene.
const groupID = "gggggggggggg"

// group registers the group at its home.
func (s *scene) group(w *words) {
	r := api.GroupRequest{ID: groupID, Kind: w.next(), Deadline: s.time(w.after("by")), Prob: .1}
	for _, site := range []string{"alpha", "beta"} {
		if name := w.next(); name != "" {
			r.Members = append(r.Members, api.GroupMember{Site: site, Plan: s.plans[name].ID, Job: s.number(w.after("as")), Prob: min(s.plans[name].Estimate, api.MostMemberProb)})
		}
	}
	_, err := s.homes.RegisterGroup(s.T.Context(), "alice", r)
	s.must(err)
}

// gate asks whether the work of a job may begin.
func (s *scene) gate(w *words) {
	plan, job := s.plans[w.next()].ID, s.number(w.after("as"))
	a, err := s.keeper.Gate(s.T.Context(), cmp.Or(w.after("by"), "alice"), api.Gate{Plan: plan, Job: job})
	switch {
	case err != nil:
		s.say("%s", s.named(faultText(err)))
	case a.At != 0:
		s.say("%s at %s", a.Answer, desktest.Clock(a.At))
	case a.Why != "":
		s.say("%s: %s", a.Answer, a.Why)
	default:
		s.say("%s", a.Answer)
	}
}

// sayCalls shows the calls that changed Slurm since it was called last.
func (s *scene) sayCalls() {
	for _, call := range s.Slurm.Calls {
		s.say("slurm: %s", call)
	}
	s.Slurm.Calls = nil
}

// change changes a job in the queue.
func (s *scene) change(id int64, do func(j *slurm.QueueEntry)) {
	j, ok := s.Slurm.Pending[id]
	if !ok {
		s.T.Fatalf("job %d is not in the queue", id)
	}
	do(&j)
	s.Slurm.Pending[id] = j
}

func (s *scene) set(w *words) {
	id := s.number(w.next())
	whenRead := w.flag("when-read")
	given := slices.Clone(*w)
	change := func(j *slurm.QueueEntry) { s.apply(&given, j) }
	*w = nil
	if whenRead {
		s.Slurm.ChangesAtRead = map[int64]func(*slurm.QueueEntry){id: change}
	} else {
		s.change(id, change)
	}
}

// apply makes the changes that words name to a job.
func (s *scene) apply(w *words, j *slurm.QueueEntry) {
	if user, given := w.value("user"); given {
		j.User = user
	}
	if comment, given := w.value("comment"); given {
		j.Comment = ""
		if p := s.plans[comment]; p != nil {
			j.Comment = p.Comment
		}
	}
	if partition, given := w.value("partition"); given {
		j.Partition = partition
	}
	if limit, given := w.value("limit"); given {
		j.Limit = s.span(limit)
	}
	if submit, given := w.value("submit"); given {
		j.Submit = s.time(submit)
	}
	if begin, given := w.value("begin"); given {
		j.Held, j.Eligible = false, s.time(begin)
	}
	if nodes, given := w.value("nodes"); given {
		j.Nodes = int32(s.number(nodes))
		j.CPUs = j.Nodes
	}
	if qos, given := w.value("qos"); given {
		j.QOS = qos
	}
	if excluded, given := w.value("excluded"); given {
		j.Excluded = excluded
	}
	if features, given := w.value("features"); given {
		j.Features = features
	}
	if dependency, given := w.value("dependency"); given {
		j.Dependency = dependency
		if dependency != "" {
			j.Eligible = 0
		}
	}
	if n, given := w.value("least-cpus"); given {
		j.Shape.CPUs = s.number(n)
	}
	if tres, given := w.value("resources"); given {
		j.Shape.TRES = tres
	}
	if licenses, given := w.value("licenses"); given {
		j.Shape.Licenses = licenses
	}
	if reservation, given := w.value("reservation"); given {
		j.Shape.Reservation = reservation
	}
	if nice, given := w.value("nice"); given {
		j.Nice = s.number(nice)
	}
	if deadline, given := w.value("deadline"); given {
		j.Shape.Deadline = s.time(deadline)
	}
	if n, given := w.value("switches"); given {
		j.Shape.Switches = s.number(n)
	}
	j.Shape.Contiguous = j.Shape.Contiguous || w.flag("contiguous")
	if reason, given := w.value("reason"); given {
		j.Reason = reason
	}
	if why, given := w.value("stopped"); given {
		j.Stopped = strings.ReplaceAll(why, "-", " ")
	}
	j.Completing = j.Completing || w.flag("completing")
	if w.flag("requeueing") { // as Slurm shows a job that is about to be requeued
		j.Completing, j.Start = true, s.Clock
		j.RestartCount++
	}
	if w.flag("interactive") {
		j.Interactive = true
	}
	if w.flag("held") {
		j.Held, j.Eligible = true, 0
	}
	if len(*w) > 0 {
		s.T.Fatalf("a job has no %q", *w)
	}
}

func (s *scene) start(w *words) {
	s.change(s.number(w.next()), func(j *slurm.QueueEntry) { j.Start, j.State, j.On = s.at(w), workload.Running, []string{"a", "b"} })
}

func (s *scene) node(w *words) {
	node := w.next()
	if choose(s, w.next(), map[string]bool{"lost": true, "up": false}) {
		s.Outlook.LostNodes = append(s.Outlook.LostNodes, node)
	} else {
		s.Outlook.LostNodes = slices.DeleteFunc(s.Outlook.LostNodes, func(n string) bool { return n == node })
	}
}

func (s *scene) suspend(w *words) {
	s.change(s.number(w.next()), func(j *slurm.QueueEntry) {
		j.Suspended, j.RanBefore = true, j.RanBefore+s.Clock-max(j.Start, j.SuspendTime)
		j.SuspendTime = s.Clock
	})
}

func (s *scene) resume(w *words) {
	s.change(s.number(w.next()), func(j *slurm.QueueEntry) { j.Suspended, j.SuspendTime = false, s.Clock })
}

// unfulfilled is the state of a job that Slurm cancels, as what it waits for does not come true.
const unfulfilled = "UNFULFILLED"

func (s *scene) end(id int64, state string, at int64) {
	j, ok := s.Slurm.Pending[id]
	if !ok {
		s.T.Fatalf("job %d is not in the queue", id)
	}
	delete(s.Slurm.Pending, id)
	j.End = at
	j.Evicted, j.Expired, j.Unfulfilled = slurm.Evicted(state), slurm.Expired(state), state == unfulfilled
	j.State = slurm.ParseState(strings.Replace(state, unfulfilled, "CANCELLED", 1))
	if j.State == workload.Unknown {
		s.T.Fatalf("there is no state %q", state)
	}
	s.Slurm.Accounts[id] = append(s.Slurm.Accounts[id], j.Job)
}

// account changes the data in accounting of the last run of a job, or adds another run.
func (s *scene) account(w *words) {
	runs := s.Slurm.Accounts[s.number(w.next())]
	if w.flag("again") {
		runs = append(runs, runs[len(runs)-1])
		s.Slurm.Accounts[runs[0].ID] = runs
	}
	run := &runs[len(runs)-1]
	for name, field := range map[string]*int64{"submit": &run.Submit, "start": &run.Start, "end": &run.End} {
		if text, given := w.value(name); text == "-" {
			*field = 0
		} else if given {
			*field = s.time(text)
		}
	}
}

func (s *scene) requeue(w *words) {
	id, at := s.number(w.next()), s.at(w)
	again := s.Slurm.Pending[id]
	state := "REQUEUED"
	if w.flag("NODE_FAIL") {
		state = "NODE_FAIL"
	}
	s.end(id, state, at)
	again.Submit, again.Eligible, again.Start, again.State = at, at+120, 0, workload.Pending
	again.RestartCount++
	again.Completing = false
	if limit, given := w.value("limit"); given {
		again.Limit = s.span(limit)
	}
	s.Slurm.Pending[id] = again
}

// readQueue reads the queue for the next watch.
func (s *scene) readQueue() {
	var err error
	if s.early, err = s.read(s.T.Context()); err != nil {
		s.T.Fatal(err)
	}
}

// watches calls watch, and shows the log, the changes to jobs, and the states of the
// reservations.
func (s *scene) watches(w *words) {
	read, watch := !w.flag("unread"), s.watch
	if w.flag("bound") {
		watch = s.watchBound
	}
	until := s.Clock
	if text := w.after("until"); text != "" {
		until = s.time(text)
	}
	for ; s.Clock <= until; s.Clock++ {
		if read {
			s.Outlook.CoveredTo = s.Clock
		}
		if err := watch(); err != nil {
			s.say("watch: %v", err)
		}
	}
	s.Clock = until
	for line := range strings.Lines(s.Warnings.String()) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), " level=")
		s.say("log: %s", s.named(text))
	}
	s.Warnings.Reset()
	for _, call := range s.Slurm.Calls {
		s.say("slurm: %s", call)
	}
	s.Slurm.Calls = nil
	for _, name := range slices.Sorted(maps.Keys(s.plans)) {
		s.state(name)
	}
}

// named replaces the random identifiers of plans by their names.
func (s *scene) named(text string) string {
	for name, p := range s.plans {
		text = strings.ReplaceAll(text, p.ID, name)
	}
	return text
}

// entry returns a plan's entry in the ledger.
func (s *scene) entry(name string) *ledger.Entry {
	entries, err := s.Ledger.Select(s.T.Context(), ledger.Query{Plan: s.plans[name].ID})
	s.must(err)
	if len(entries) != 1 {
		s.T.Fatalf("the ledger has %d plans %s", len(entries), name)
	}
	return &entries[0]
}

// state shows a reservation's state, its note, and its events since the last call.
func (s *scene) state(name string) {
	e := s.entry(name)
	text := fmt.Sprintf("%s: %s", name, e.State)
	if e.Job != 0 {
		text += fmt.Sprintf(", job %d", e.Job)
	}
	if e.Note != "" {
		text += ": " + e.Note
	}
	s.say("%s", text)
	events, err := s.Ledger.Events(s.T.Context(), e.ID)
	s.must(err)
	for _, event := range events[s.events[name]:] {
		s.say("  %s %s: %s", desktest.Clock(event.At), event.Kind, event.Text)
	}
	s.events[name] = len(events)
}

// restored restores the ledger as it was at the last backup, whose events have been shown.
func (s *scene) restored() {
	s.restore()
	for name := range s.events {
		events, err := s.Ledger.Events(s.T.Context(), s.plans[name].ID)
		s.must(err)
		s.events[name] = len(events)
	}
}

// learn passes the last run of each job to ObserveAccounting.
func (s *scene) learn(w *words) {
	var jobs []workload.Job
	for len(*w) > 0 {
		runs := s.Slurm.Accounts[s.number(w.next())]
		jobs = append(jobs, runs[len(runs)-1])
	}
	s.must(s.keeper.ObserveAccounting(s.T.Context(), jobs))
	for _, name := range slices.Sorted(maps.Keys(s.plans)) {
		s.state(name)
	}
}

// reservations lists the reservations that a user may see, by the plans' names.
func (s *scene) reservations(w *words) {
	user, q := w.next(), api.ReservationsQuery{User: w.after("of"), All: w.flag("all"), Selection: s.selection(w)}
	if len(*w) > 0 {
		q.Job = s.number(w.next())
	}
	list, err := s.records.Reservations(s.T.Context(), user, q)
	if err != nil {
		s.say("%s", faultText(err))
		return
	}
	s.say("%d reservations", len(list))
	for _, r := range list {
		text := fmt.Sprintf("%s of %s: %s", r.ID, r.User, r.State)
		if r.Now != nil {
			text += fmt.Sprintf(", now %v", *r.Now)
		}
		if q.Job != 0 && strings.Contains(r.Note, "not by varq") {
			text += fmt.Sprintf("; set to begin %s with limit %s; %d nodes, %d CPUs", desktest.Clock(r.Set.BeginTime), desktest.Span(r.Set.TimeLimit), r.Nodes, r.CPUs)
		}
		if r.Rescue != nil {
			text += fmt.Sprintf("; idle nodes at most %.2f node-hours, with %.2f it would be %v", r.Ceiling.NodeSeconds/3600, r.Rescue.Worst.NodeSeconds/3600, r.Rescue.Prob)
		}
		if r.Obstacle != "" {
			text += "; " + r.Obstacle
		}
		s.say("  %s", s.named(text))
	}
}

// selection removes since=TIME, name=NAME and state=STATE, and returns the selection that they
// make.
func (s *scene) selection(w *words) (q api.Selection) {
	if text, given := w.value("since"); given {
		q.Start = s.time(text)
	}
	if text, given := w.value("name"); given {
		q.Names = []string{text}
	}
	if text, given := w.value("state"); given {
		q.States = []string{text}
	}
	return q
}

func (s *scene) report(w *words) {
	report, err := s.records.Report(s.T.Context(), w.next(), api.ReportQuery{User: w.after("of"), Selection: s.selection(w)})
	if err != nil {
		s.say("%s", faultText(err))
		return
	}
	for _, row := range report.Rows {
		text := fmt.Sprintf("%d promises, %d open", row.Promises, row.Open)
		if row.Kept+row.Missed > 0 {
			text += fmt.Sprintf("; %d kept and %d missed, of probability %.2f", row.Kept, row.Missed, row.Promised)
		}
		if row.Used > row.Required {
			text += fmt.Sprintf("; %.0f node-seconds used, %.0f by the work", row.Used, row.Required)
		}
		s.say("%s", text)
	}
}

// show shows a plan's entry in the ledger, and its job in the queue.
func (s *scene) show(w *words) {
	name := w.next()
	e := s.entry(name)
	s.say("%s: promised to begin %s with limit %s", name, desktest.Clock(e.BeginTime), desktest.Span(e.TimeLimit))
	s.say("  job %d: eligible %s, start %s, work %s, end %s", e.Job, desktest.Clock(e.Eligible), desktest.Clock(e.Start), desktest.Clock(e.WorkStart), desktest.Clock(e.End))
	if e.Progress.HeldBefore != 0 {
		s.say("  its nodes idled for %s in runs before", desktest.Span(e.Progress.HeldBefore))
	}
	if e.Progress.WorkedBefore != 0 {
		s.say("  it worked for %s in runs before", desktest.Span(e.Progress.WorkedBefore))
	}
	if e.Evicted {
		s.say("  its nodes failed, or were taken away")
	}
	if e.Progress.Yielded {
		s.say("  varq leaves the job alone")
	}
	if j, ok := s.Slurm.Pending[e.Job]; ok {
		s.say("  in the queue: eligible %s, start %s, limit %s", desktest.Clock(j.Eligible), desktest.Clock(j.Start), desktest.Span(j.Limit))
	}
}

// tellNotices shows the notices since it was called last.
func (s *scene) tellNotices() {
	for _, n := range s.notices {
		s.say("%s %s %s: now %v, %s", n.User, n.Event, n.State, n.Now, n.Text)
	}
	s.notices = nil
}

// heard shows the calls of Promise since the last call of heard.
func (s *scene) heard() {
	for _, p := range s.Outlook.Promised {
		s.say("job %d begins %s with limit %s; the promise holds: %v", p.Job, desktest.Clock(p.Begin), desktest.Span(p.Limit), p.Holds)
	}
	s.Outlook.Promised = nil
}
