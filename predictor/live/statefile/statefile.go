// Package statefile opens the one file in which varqd keeps what cannot be learnt
// again from Slurm: the promises (package ledger) and how forecasts have fared
// (package scores). Those packages own their tables' rows. The tables themselves are
// defined here, since the steps that build a file have one order.
package statefile

import (
	_ "embed" // the steps
	"fmt"

	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

var (
	//go:embed 1_promises.sql
	promisesSQL string
	//go:embed 2_scores.sql
	scoresSQL string
	//go:embed 3_odds.sql
	oddsSQL string
)

// steps build the tables; see sqlitefile.Open. They are only ever appended to.
var steps = []string{promisesSQL, scoresSQL, oddsSQL}

// Open opens the file path, creates it if there is none, and brings one that an
// earlier varq has written up to date. What is committed to it survives a power cut.
func Open(path string) (*sqlitefile.File, error) {
	f, err := sqlitefile.Open(path, sqlitefile.SurvivesPowerCut, steps)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return f, nil
}
