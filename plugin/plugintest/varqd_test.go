package plugintest

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// varqd is a fake varqd. It promises every job of up to four nodes, eligible at once or, with
// the probability waits, in an hour. It records the requests.
type varqd struct {
	socket string

	mu       sync.Mutex
	plans    map[string]api.Plan // by identifier
	quotes   int
	bindings map[string]int64
	taken    map[string]bool // back
}

// startVarqd serves on a unix socket in a folder that every user can reach.
func startVarqd(t *testing.T, dir string) *varqd {
	t.Helper()
	v := &varqd{
		socket: filepath.Join(dir, "varqd.sock"), plans: map[string]api.Plan{}, bindings: map[string]int64{}, taken: map[string]bool{},
	}
	listener, err := net.Listen("unix", v.socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(v.socket, 0o666); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+api.PathPlan, func(w http.ResponseWriter, r *http.Request) { v.plan(w, r, true) })
	mux.HandleFunc("POST "+api.PathQuote, func(w http.ResponseWriter, r *http.Request) { v.plan(w, r, false) })
	mux.HandleFunc("POST "+api.PathBind, v.bind)
	mux.HandleFunc("POST "+api.PathCancel, v.cancel)
	mux.HandleFunc("GET "+api.PathReservations, func(w http.ResponseWriter, _ *http.Request) { answer(w, []api.Reservation{}) })
	server := http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return v
}

func (v *varqd) plan(w http.ResponseWriter, r *http.Request, promise bool) {
	var request api.PlanRequest
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer(w, v.answer(request, promise))
}

// waits is the probability of jobs that do not start by themselves while a test lasts.
const waits = .99

// workLimit is the time limit of work without --time.
const workLimit = 600

func (v *varqd) answer(r api.PlanRequest, promise bool) api.PlanAnswer {
	if r.Job.Nodes > 4 {
		return api.PlanAnswer{Refusal: &api.Refusal{
			Reason: "no more than 4 nodes are ever promised",
			Offers: []api.Offer{{Kind: api.OfferNodes, Nodes: 4, Prob: .93}},
		}}
	}
	now := time.Now().Unix()
	p := api.Plan{
		BeginTime: now, BeginBy: r.BeginBy, HoldUntil: r.BeginBy, WorkLimit: r.Job.Limit,
		Prob: r.Prob, Estimate: .937, OnMiss: r.OnMiss, Work: api.Cost{NodeSeconds: 14400}, Worst: api.Cost{NodeSeconds: 11520},
	}
	if p.WorkLimit == 0 {
		p.WorkLimit = workLimit
	}
	if r.BeginAfter != 0 {
		p.HoldUntil = r.BeginAfter
	}
	if r.BestEffort {
		p.HoldUntil = 0
	}
	if p.Prob == waits {
		p.BeginTime += 3600
	}
	p.TimeLimit = (p.WorkLimit + max(0, p.HoldUntil-p.BeginTime) + 59) / 60 * 60
	if p.Prob == 0 {
		p.Prob = .9
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if promise {
		p.ID = api.NewPlanID()
		p.Comment = api.CommentPrefix + p.ID
		v.plans[p.ID] = p
	} else {
		v.quotes++
	}
	return api.PlanAnswer{Plan: &p}
}

func (v *varqd) bind(w http.ResponseWriter, r *http.Request) {
	var b api.Binding
	if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.bindings[b.Plan] = b.Job
	answer(w, struct{}{})
}

func (v *varqd) cancel(w http.ResponseWriter, r *http.Request) {
	var c api.Cancellation
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.taken[c.Plan] = true
	answer(w, struct{}{})
}

// phantoms returns how many promises with this deadline were made, and how many of them were
// not taken back.
func (v *varqd) phantoms(beginBy int64) (made, left int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id := range v.plans {
		if v.plans[id].BeginBy == beginBy {
			made++
			if !v.taken[id] {
				left++
			}
		}
	}
	return made, left
}

// promised returns a plan by its identifier.
func (v *varqd) promised(id string) (api.Plan, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p, ok := v.plans[id]
	return p, ok
}

// bound returns the job that a plan was bound to.
func (v *varqd) bound(id string) int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.bindings[id]
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}
