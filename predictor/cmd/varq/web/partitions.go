package web

import (
	"context"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/api"
)

// partitions are those to choose from in a form.
type partitions struct {
	Names   []string // none if varqd does not tell; then the name is typed
	Default string   // of a job that names none, or ""
	Chosen  string
}

// choice returns the partitions that are open to the user, and what she has chosen, which may be
// another.
func choice(limits *api.Limits, chosen string) partitions {
	p := partitions{Names: limits.Partitions, Default: limits.DefaultPartition, Chosen: chosen}
	if len(p.Names) > 0 && chosen != "" && !slices.Contains(p.Names, chosen) {
		p.Names = append(slices.Clone(p.Names), chosen)
	}
	return p
}

// known is what varqd last told of the user's partitions.
type known struct {
	mu     sync.Mutex
	limits api.Limits
	until  int64 // it is good until then, Unix seconds
}

// goodFor is how long partitions are known without asking again, in seconds: they seldom change.
const goodFor = 600

// partitions returns those to choose from. What is wrong with varqd, if it does not tell, is for
// the rest of the page to say.
func (s *site) partitions(ctx context.Context, chosen string) partitions {
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	if now := s.env.Now(); now >= s.known.until {
		if limits, err := s.varqd.Limits(ctx); err == nil {
			s.known.limits, s.known.until = limits, now+goodFor
		}
	}
	return choice(&s.known.limits, chosen)
}
