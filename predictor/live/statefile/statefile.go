// Package statefile opens the file in which varqd stores what it cannot learn again from Slurm:
//   - promises (package ledger), of flows (package flows), and groups of promises (package groups)
//   - the scores of forecasts (packages scores and faultscore)
//   - what would have been promised (package shadow)
//   - signs of trouble on nodes (package vitals)
//   - how many nodes were idle (package idle)
//   - jobs whose sizes are not locked in (package resize)
//
// These packages read and write the rows. This package defines all tables, because the steps that
// build a file have one order.
package statefile

import (
	_ "embed" // the steps
	"errors"
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
	//go:embed 4_ceiling.sql
	ceilingSQL string
	//go:embed 5_shadow.sql
	shadowSQL string
	//go:embed 6_odds_by_user.sql
	oddsByUserSQL string
	//go:embed 7_runs.sql
	runsSQL string
	//go:embed 8_slots.sql
	slotsSQL string
	//go:embed 9_pieces.sql
	piecesSQL string
	//go:embed 10_completions.sql
	completionsSQL string
	//go:embed 11_faults.sql
	faultsSQL string
	//go:embed 12_lost.sql
	lostSQL string
	//go:embed 13_vitals.sql
	vitalsSQL string
	//go:embed 14_tentative.sql
	tentativeSQL string
	//go:embed 15_groups.sql
	groupsSQL string
	//go:embed 16_parts.sql
	partsSQL string
	//go:embed 17_idle.sql
	idleSQL string
	//go:embed 18_gated.sql
	gatedSQL string
	//go:embed 19_resizes.sql
	resizesSQL string
	//go:embed 20_vouched.sql
	vouchedSQL string
	//go:embed 21_held.sql
	heldSQL string
	//go:embed 22_members.sql
	membersSQL string
	//go:embed 23_scale.sql
	scaleSQL string
	//go:embed 24_schemas.sql
	schemasSQL string
	//go:embed 25_withdrawn.sql
	withdrawnSQL string
	//go:embed 26_node_sets.sql
	nodeSetsSQL string
	//go:embed 27_arrays.sql
	arraysSQL string
	//go:embed 28_reservations.sql
	reservationsSQL string
	//go:embed 29_licences.sql
	licencesSQL string
	//go:embed 30_near.sql
	nearSQL string
	//go:embed 31_dependencies.sql
	dependenciesSQL string
	//go:embed 32_learnt.sql
	learntSQL string
	//go:embed 33_waits.sql
	waitsSQL string
)

// steps build the tables; see sqlitefile.Open. A new step comes last, and no step changes.
var steps = []string{promisesSQL, scoresSQL, oddsSQL, ceilingSQL, shadowSQL, oddsByUserSQL, runsSQL, slotsSQL, piecesSQL, completionsSQL, faultsSQL, lostSQL, vitalsSQL, tentativeSQL, groupsSQL, partsSQL, idleSQL, gatedSQL, resizesSQL, vouchedSQL, heldSQL, membersSQL, scaleSQL, schemasSQL, withdrawnSQL, nodeSetsSQL, arraysSQL, reservationsSQL, licencesSQL, nearSQL, dependenciesSQL, learntSQL, waitsSQL}

// Open opens the file path, whose lock the caller has. It creates the file if there is none, and
// migrates a file that an earlier varq has written, of which it makes a backup before. A file of a
// later varq it leaves alone, and one whose tables are not varq's, or not those alone: the error
// wraps sqlitefile.ErrTooNew or sqlitefile.ErrForeign. A committed transaction survives a power
// cut.
func Open(path string) (*sqlitefile.File, error) {
	f, err := openWith(path, steps)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return f, nil
}

// OpenMemory returns a new file in memory, which Close forgets.
func OpenMemory() (*sqlitefile.File, error) { return sqlitefile.OpenMemory(steps) }

// openWith is Open with the steps of some version of varq.
func openWith(path string, steps []string) (*sqlitefile.File, error) {
	has, err := sqlitefile.Version(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, sqlitefile.Explain(path, err))
	}
	if has > 0 {
		if err := sweep(path); err != nil {
			return nil, err
		}
	}
	migrates := has > 0 && has < len(steps)
	if migrates {
		if err := backUp(path, has, len(steps)); err != nil {
			return nil, err
		}
	}
	f, err := sqlitefile.Open(path, sqlitefile.SurvivesPowerCut, signed(steps))
	switch {
	case errors.Is(err, sqlitefile.ErrTooNew):
		err = fmt.Errorf("%w. %s", err, remedy(path, len(steps)))
	case errors.Is(err, sqlitefile.ErrForeign):
		err = fmt.Errorf("%w. It stays as it is: name another file as ledger.path, drop what is not varq's with sqlite3, or go back to a backup: varq ledger restore FILE", err)
	case err != nil && migrates:
		err = fmt.Errorf("%w; it still has schema version %d", sqlitefile.Explain(path, err), has)
	default:
		err = sqlitefile.Explain(path, err)
	}
	return f, err
}
