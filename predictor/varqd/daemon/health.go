package daemon

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/keeper"
	"github.com/varq-project/varq/predictor/live/selfscore"
)

// problems are what does not work, by the part of varqd that it ails.
type problems struct {
	mu     sync.Mutex
	byPart map[string]string
}

func newProblems() *problems { return &problems{byPart: map[string]string{}} }

// set notes the problem of a part, and reports whether it is another than before.
func (p *problems) set(part string, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, known := p.byPart[part]
	p.byPart[part] = err.Error()
	return !known || old != err.Error()
}

// clear forgets the problem of a part, and reports whether there was one.
func (p *problems) clear(part string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.byPart[part]
	delete(p.byPart, part)
	return known
}

func (p *problems) list() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []string
	for part, text := range p.byPart {
		list = append(list, fmt.Sprintf("%s: %s", part, text))
	}
	slices.Sort(list)
	return list
}

// service is what the server serves: reservations, the calibration of forecasts, and
// the health of the whole daemon.
type service struct {
	*keeper.Keeper
	selfscore.Reader
	daemon *Daemon
}

// Health returns how varqd is. It is well while it can make promises and looks at the
// queue.
func (s service) Health(context.Context) api.Health {
	d := s.daemon
	h := api.Health{Problems: d.problems.list(), Notes: d.own.notes(), Version: api.Version}
	if err := d.keeper.Ready(); err != nil {
		h.Problems = append(h.Problems, err.Error())
	}
	if err := d.looks.overdue(); err != nil {
		h.Problems = append(h.Problems, err.Error())
	}
	h.History, h.Newest = d.outlook.Learnt()
	h.OK = len(h.Problems) == 0
	return h
}
