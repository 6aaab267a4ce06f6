package extern

import (
	"cmp"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// maxAhead is how many plans' answers are kept. Hardly ever are more plans made at once.
const maxAhead = 8

// subject is what the questions of one plan have in common. They differ only in Submit and
// Limit.
type subject struct {
	request  workload.Request // without its limit
	now, job int64
}

// about returns the subject of a question.
func about(q *forecast.Question) subject {
	s := subject{q.Request, q.Now, q.Job}
	s.request.Limit = 0
	return s
}

// point is one question of a plan and its answer.
type point struct {
	submit, limit int64
	reply
}

func bySubmit(a, b point) int {
	return cmp.Or(cmp.Compare(a.submit, b.submit), cmp.Compare(a.limit, b.limit))
}

// ahead keeps the answers to the questions of plans, the newest plan last.
type ahead struct {
	mu    sync.Mutex
	plans []plan
}

type plan struct {
	subject
	points []point // by submit, also if they were not answered
}

// keep replaces the plan of a subject by new points.
func (h *ahead) keep(s subject, points []point) {
	slices.SortFunc(points, bySubmit)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.plans = slices.DeleteFunc(h.plans, func(p plan) bool { return p.subject == s })
	if len(h.plans) == maxAhead {
		h.plans = slices.Delete(h.plans, 0, 1)
	}
	h.plans = append(h.plans, plan{s, points})
}

// answer answers q from the points of its plan. If q lies between two points, and its time
// limit between theirs, the answer is a mixture of theirs, in which the nearer one weighs
// more. It reports false if the points do not cover q.
func (h *ahead) answer(q *forecast.Question) (r reply, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := about(q)
	i := slices.IndexFunc(h.plans, func(p plan) bool { return p.subject == s })
	if i < 0 {
		return reply{}, false
	}
	points := h.plans[i].points
	at, exact := slices.BinarySearchFunc(points, point{submit: q.Submit, limit: q.Limit}, bySubmit)
	switch {
	case exact:
		return points[at].reply, true
	case at == 0 || at == len(points):
		return reply{}, false
	}
	return between(&points[at-1], &points[at], q)
}

// between answers q by a mixture of the answers at a and b.
func between(a, b *point, q *forecast.Question) (r reply, ok bool) {
	if q.Limit < min(a.limit, b.limit) || q.Limit > max(a.limit, b.limit) || a.submit == b.submit {
		return reply{}, false
	}
	if !a.known || !b.known {
		return reply{}, true
	}
	share := float64(q.Submit-a.submit) / float64(b.submit-a.submit)
	r.known = true
	r.Wait.Mix(&a.Wait, 1-share)
	r.Wait.Mix(&b.Wait, share)
	r.Sample, r.Class = min(a.Sample, b.Sample), a.Class
	return r, true
}

// thin returns at most n of the questions, evenly spread. It keeps the first and the last.
func thin(questions []forecast.Question, n int) []forecast.Question {
	if len(questions) <= n {
		return questions
	}
	few := make([]forecast.Question, n)
	for i := range few {
		few[i] = questions[i*(len(questions)-1)/(n-1)]
	}
	return few
}
