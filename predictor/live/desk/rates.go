package desk

import (
	"context"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/esr"
)

// Idle knows how many nodes were idle in the past.
type Idle interface {
	// History returns the record of a partition, or nil.
	History(ctx context.Context, partition string) (*esr.History, error)
}

// ahead is the number of seconds for which Slurm's own reservations count as workload.
const ahead = 366 * 86400

// rates returns the success rates of a slot.
func (p *probe) rates(ctx context.Context, s *api.Slot) *api.ESR {
	known := p.known[s.Partition]
	if known == nil {
		load := esr.NewLoad(p.Cluster, s.Partition, p.Jobs, p.now, p.now+ahead)
		known = &esr.Knowledge{Now: p.now, Scale: esr.PaperScale, Ends: load.End()}
		if p.desk.Idle != nil {
			history, err := p.desk.Idle.History(ctx, s.Partition)
			if err != nil && ctx.Err() == nil {
				p.desk.Log.Warn("the success rate by history is left out", "error", err)
			}
			known.Idle = history
		}
		if p.known == nil {
			p.known = map[string]*esr.Knowledge{}
		}
		p.known[s.Partition] = known
	}
	r := known.Rates(s.Nodes, s.Start, s.End)
	answer := &api.ESR{Static: r.Static, Load: r.Load}
	if r.Recorded {
		answer.History = &r.History
	}
	return answer
}
