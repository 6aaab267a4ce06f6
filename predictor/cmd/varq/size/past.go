package size

import (
	"fmt"
	"strconv"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/forecast/speedup"
	"github.com/varq-project/varq/predictor/forecast/speedup/fit"
)

// past is what was learnt from past runs.
type past struct {
	*fit.Model
	held   int // runs that held their nodes before the work
	others int // runs that did not complete
}

// says says in sentences what run times rest on.
func (p *past) says() []string {
	said := []string{fmt.Sprintf("Run times from %s on %d to %d nodes, by the speedup %s; their median lies in the interval in %.0f of 100 cases.",
		cli.Count(len(p.Runs), "run", "runs"), p.Runs[0].Nodes, p.Runs[len(p.Runs)-1].Nodes, rounded(p.Curve), 100*fit.Confidence)}
	if p.held > 0 {
		said = append(said, fmt.Sprintf("Not counted: for how long %s before the work.", cli.Count(p.held, "run held its nodes", "runs held their nodes")))
	}
	if p.others > 0 {
		said = append(said, fmt.Sprintf("Left out: %s that did not complete.", cli.Count(p.others, "run", "runs")))
	}
	if p.Far > 0 {
		said = append(said, fmt.Sprintf("Far from the curve: %s; what they took counts as less far, and the time limit is too short for the like.", cli.Count(p.Far, "run", "runs")))
	}
	if turn := p.Turn(); turn != 0 {
		said = append(said, fmt.Sprintf("On more than %s they take longer again: for more than that, go by none of this.", cli.Count(int(turn), "node", "nodes")))
	}
	return said
}

// rounded writes a curve with three digits.
func rounded(c speedup.Curve) string {
	three := func(x float64) float64 {
		y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
		return y
	}
	switch c := c.(type) {
	case speedup.Amdahl:
		return speedup.Amdahl{Serial: three(c.Serial)}.String()
	case speedup.Downey:
		return speedup.Downey{A: three(c.A), Sigma: three(c.Sigma)}.String()
	}
	return c.String()
}
