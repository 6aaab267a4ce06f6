package trajectory

import (
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/prob"
)

// Rescue returns the submission with which the promise would hold again if the nodes could idle for
// longer than r.Earliest allows. It reports false if there is none, if the promise holds, if the
// job cannot be moved any more, or if there is too little room however long the nodes idle. revised
// is what Replan returned for r.
func (p *Planner) Rescue(r Request, revised Revision) (Point, bool) {
	if revised.Prob >= r.Prob || revised.Room < r.Prob || r.Earliest == 0 || r.Now >= revised.Begin || r.Deadline <= r.Now {
		return Point{}, false
	}
	agreed := r.Earliest
	_, points := p.unceiled(&r, revised)
	within := slices.IndexFunc(points, func(pt Point) bool { return pt.Begin >= agreed })
	if within >= 0 { // Replan has found none of these good enough
		points = points[:within]
	}
	i := p.settle(&r, points, r.Prob)
	if i < 0 {
		return Point{}, false
	}
	points[i].Prob = min(points[i].Prob, revised.Room)
	return points[i], true
}

// InVain says why no more idle time of the nodes would keep the promise, of which revised is what
// Replan returned for r, where Rescue finds nothing that would.
func (p *Planner) InVain(r Request, revised Revision) string {
	if revised.Room < r.Prob {
		return Crowd(p.Cluster, &r, revised.Begin, revised.Late, "too little")
	}
	b, points := p.unceiled(&r, revised)
	if rule, so := p.binding(&r, b, len(points) == 0); rule != nil {
		return rule.Says + so
	}
	best := min(revised.Room, max(highest(points), revised.Prob))
	return fmt.Sprintf("it starts by the deadline with probability %s at best, however long its nodes may idle", prob.Format(best))
}

// unceiled removes the ceiling of r, and returns its bounds and forecasts then. revised is what
// Replan returned for r.
func (p *Planner) unceiled(r *Request, revised Revision) (bounds, []Point) {
	r.Earliest = 0
	b := p.bounds(r)
	b.last = revised.last
	return b, p.forecasts(r, b, 1)
}
