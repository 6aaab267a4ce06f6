package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/score"
)

// What is kept at most: forecasts of jobs that wait, days for which a job waits,
// days of what became of forecasts, and classes of a forecaster in a day.
const (
	mostForecasts = 50_000
	mostWait      = 90
	mostDays      = 400
	mostClasses   = 128
)

// Others is the partition, and the class, of those beyond the most that are told
// apart in a day.
const Others = "(others)"

// Run is one submission of a job: an id alone may be used again by Slurm.
type Run struct{ Job, Submit int64 }

// Forecast is what one forecaster said of the wait of a job when it began to wait.
type Forecast struct {
	Run
	Eligible   int64 // when that was
	Forecaster string
	Partition  string
	Class      string // of jobs served alike; public, see score.PublicClass
	Wait       delay.Distribution
}

// Start is when a job started.
type Start struct {
	Run
	Eligible, Start int64
}

// Waits is what has become of the waits of jobs since the ledger was last told.
type Waits struct {
	Begun   []Forecast // of jobs that began to wait, they replace older ones
	Started []Start
	Gone    []Run // left the queue without having started, or stay there held
}

// Score writes forecasts down, and holds those of the jobs that have started
// against what they waited: in the tables goes what came of them, and out go the
// forecasts. A job whose wait began at another time than was forecast is not
// scored. It is one transaction, so that each forecast counts once, whenever the
// process dies and however often a start is told. r ranks ties. Score returns the
// sums of what it scored.
//
// While as many forecasts as are kept wait for their jobs to start, new ones are
// left out: to drop old ones instead would be to score short waits only.
func (l *Ledger) Score(ctx context.Context, w Waits, r *rand.Rand) (score.Table, error) {
	if len(w.Begun)+len(w.Started)+len(w.Gone) == 0 {
		return nil, nil
	}
	var scored score.Table
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		if err := insertForecasts(ctx, tx, w.Begun, mostForecasts); err != nil {
			return err
		}
		var err error
		if scored, err = scoreStarted(ctx, tx, w.Started, r); err != nil {
			return err
		}
		for _, run := range w.Gone {
			if err := deleteForecasts(ctx, tx, run); err != nil {
				return err
			}
		}
		if err := addSums(ctx, tx, scored); err != nil {
			return err
		}
		return prune(ctx, tx, w.Begun)
	})
	if err != nil {
		return nil, fmt.Errorf("ledger: score forecasts: %w", err)
	}
	return scored, nil
}

// insertForecasts adds forecasts, all of them or, if there would be more than so
// many, none: the forecasters are to be scored by the same jobs.
func insertForecasts(ctx context.Context, tx *sql.Tx, list []Forecast, most int) error {
	var n int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM forecasts`).Scan(&n); err != nil || n+len(list) > most {
		return err
	}
	for i := range list {
		if err := insertForecast(ctx, tx, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// insertForecast leaves out what is no distribution, so that a forecaster that
// errs keeps no other from being scored.
func insertForecast(ctx context.Context, tx *sql.Tx, f *Forecast) error {
	cdf, ok := encode(&f.Wait)
	if !ok {
		return nil
	}
	// Far beyond what is forecast at all, where the quantile is infinite.
	quantile := min(f.Wait.Quantile(score.Levels[len(score.Levels)-1]), delay.At(delay.Points-1))
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO forecasts
		(job, submit, forecaster, eligible, due, partition, class, cdf) VALUES (?,?,?,?,?,?,?,?)`,
		f.Job, f.Submit, f.Forecaster, f.Eligible, f.Eligible+int64(math.Ceil(quantile)), f.Partition, f.Class, cdf)
	return err
}

func deleteForecasts(ctx context.Context, tx *sql.Tx, run Run) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM forecasts WHERE job = ? AND submit = ?`, run.Job, run.Submit)
	return err
}

// scoreStarted takes the forecasts of jobs that have started out of the table, and sums up
// what came of them.
func scoreStarted(ctx context.Context, tx *sql.Tx, started []Start, r *rand.Rand) (score.Table, error) {
	sums := score.Table{}
	for _, s := range started {
		forecasts, err := forecastsOf(ctx, tx, s.Run)
		if err != nil {
			return nil, err
		}
		for i := range forecasts {
			f := &forecasts[i]
			if f.Eligible == s.Eligible && s.Start >= s.Eligible {
				key := score.Key{Day: score.Day(f.Eligible), Forecaster: f.Forecaster, Partition: f.Partition, Class: f.Class}
				sums.At(key).Add(&f.Wait, float64(s.Start-s.Eligible), r.Float64())
			}
		}
		if err := deleteForecasts(ctx, tx, s.Run); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

func forecastsOf(ctx context.Context, tx *sql.Tx, run Run) ([]Forecast, error) {
	rows, err := tx.QueryContext(ctx, `SELECT forecaster, eligible, partition, class, cdf FROM forecasts
		WHERE job = ? AND submit = ? ORDER BY forecaster`, run.Job, run.Submit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []Forecast
	for rows.Next() {
		f := Forecast{Run: run}
		var cdf []byte
		if err := rows.Scan(&f.Forecaster, &f.Eligible, &f.Partition, &f.Class, &cdf); err != nil {
			return nil, err
		}
		if decode(cdf, &f.Wait) {
			list = append(list, f)
		}
	}
	return list, rows.Err()
}

// addSums adds sums to those in the tables, in the order of their keys.
func addSums(ctx context.Context, tx *sql.Tx, sums score.Table) error {
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b score.Key) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Forecaster, b.Forecaster), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Class, b.Class))
	})
	for _, k := range keys {
		bounded, err := bound(ctx, tx, k)
		if err != nil {
			return err
		}
		s := sums[k]
		for i, level := range s.Levels {
			if _, err := tx.ExecContext(ctx, `INSERT INTO coverage (day, forecaster, partition, class, level, n, covered, pinball)
				VALUES (?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET
				n = n + excluded.n, covered = covered + excluded.covered, pinball = pinball + excluded.pinball`,
				bounded.Day, bounded.Forecaster, bounded.Partition, bounded.Class, score.Levels[i], s.Forecasts, level.Covered, level.Pinball); err != nil {
				return err
			}
		}
		for i, bin := range s.Bins {
			if bin.N == 0 {
				continue
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO reliability (day, forecaster, partition, class, bin, n, predicted, came_true, squares)
				VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET
				n = n + excluded.n, predicted = predicted + excluded.predicted, came_true = came_true + excluded.came_true, squares = squares + excluded.squares`,
				bounded.Day, bounded.Forecaster, bounded.Partition, bounded.Class, i, bin.N, bin.Predicted, bin.True, bin.Squares); err != nil {
				return err
			}
		}
	}
	return nil
}

// bound returns the key under which the sums of a key are kept: that of the others,
// if the forecaster has as many in that day as are told apart.
func bound(ctx context.Context, tx *sql.Tx, k score.Key) (score.Key, error) {
	var known bool
	var classes int
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(partition = ? AND class = ?), 0), count(*) FROM coverage
		WHERE day = ? AND forecaster = ? AND level = ?`,
		k.Partition, k.Class, k.Day, k.Forecaster, score.Levels[0]).Scan(&known, &classes); err != nil {
		return k, err
	}
	if !known && classes >= mostClasses {
		k.Partition, k.Class = Others, Others
	}
	return k, nil
}

// prune drops what is too old, when something was added.
func prune(ctx context.Context, tx *sql.Tx, begun []Forecast) error {
	if len(begun) == 0 {
		return nil
	}
	today := score.Day(begun[len(begun)-1].Eligible)
	for _, old := range []struct {
		statement string
		before    int64
	}{
		{`DELETE FROM coverage WHERE day < ?`, today - mostDays},
		{`DELETE FROM reliability WHERE day < ?`, today - mostDays},
		{`DELETE FROM forecasts WHERE eligible < ?`, (today - mostWait) * 86400},
	} {
		if _, err := tx.ExecContext(ctx, old.statement, old.before); err != nil {
			return err
		}
	}
	return nil
}

// encode writes a distribution as little-endian float32. It reports false if it is
// none.
func encode(d *delay.Distribution) ([]byte, bool) {
	b := make([]byte, 0, 4*delay.Points)
	for _, p := range d {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(p)))
	}
	return b, decode(b, &delay.Distribution{})
}

// decode reads what encode wrote, and reports false if that is no distribution.
func decode(b []byte, d *delay.Distribution) bool {
	if len(b) != 4*delay.Points {
		return false
	}
	last := 0.
	for i := range d {
		d[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		if !(d[i] >= last && d[i] <= 1) {
			return false
		}
		last = d[i]
	}
	return true
}
