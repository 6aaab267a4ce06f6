package scores

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/workload"
)

// insertForecasts adds all forecasts in list, or none if the table would hold more than most of
// waits. So all forecasters are scored on the same jobs. It leaves out those of ends if the table
// would hold more than most of these.
func insertForecasts(ctx context.Context, tx *sql.Tx, list []Forecast, most int) error {
	if len(list) == 0 {
		return nil
	}
	var waits, ends int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE forecaster <> ?1), count(*) FILTER (WHERE forecaster = ?1) FROM forecasts`,
		completion.Name).Scan(&waits, &ends); err != nil {
		return err
	}
	for i := range list {
		if OfEnd(list[i].Forecaster) {
			ends++
		} else {
			waits++
		}
	}
	if waits > most {
		return nil
	}
	for i := range list {
		if OfEnd(list[i].Forecaster) && ends > most {
			continue
		}
		if err := insertForecast(ctx, tx, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// insertForecast adds a forecast. It leaves out one that is not a distribution, so that the
// other forecasters are scored nevertheless.
func insertForecast(ctx context.Context, tx *sql.Tx, f *Forecast) error {
	cdf, ok := encode(&f.Delay)
	if !ok {
		return nil
	}
	groups, err := json.Marshal(f.Groups)
	if err != nil {
		return err
	}
	// An infinite quantile counts as the end of delay's grid.
	quantile := min(f.Delay.Quantile(score.Levels[len(score.Levels)-1]), delay.At(delay.Points-1))
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO forecasts
		(job, submit, forecaster, eligible, due, partition, class, cdf, scale, groups) VALUES (?,?,?,?,?,?,?,?,?,?)`,
		f.ID, f.Submit, f.Forecaster, f.Eligible, f.Eligible+int64(quantile), f.Partition, f.Class, cdf, delay.Scale, string(groups))
	return err
}

func deleteForecasts(ctx context.Context, tx *sql.Tx, job workload.Submission) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM forecasts WHERE job = ? AND submit = ?`, job.ID, job.Submit)
	return err
}

// theseForecasts selects the forecasts of a job's end or wait. Its arguments are the job's ID and
// Submit, completion.Name, and whether the end is meant.
const theseForecasts = ` FROM forecasts WHERE job = ? AND submit = ? AND (forecaster = ?) = ?`

func forecastsOf(ctx context.Context, tx *sql.Tx, job workload.Submission, ofEnd bool) ([]Forecast, error) {
	rows, err := tx.QueryContext(ctx, `SELECT forecaster, eligible, partition, class, cdf, scale, groups`+theseForecasts+` ORDER BY forecaster`,
		job.ID, job.Submit, completion.Name, ofEnd)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []Forecast
	for rows.Next() {
		f := Forecast{Submission: job}
		var cdf, groups []byte
		var scale float64
		if err := rows.Scan(&f.Forecaster, &f.Eligible, &f.Partition, &f.Class, &cdf, &scale, &groups); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(groups, &f.Groups); err != nil {
			return nil, err
		}
		if scale > 0 && decode(cdf, &f.Delay) {
			f.Delay = delay.FromScale(scale, &f.Delay)
			list = append(list, f)
		}
	}
	return list, rows.Err()
}

// Open says of what forecasts for a job are stored and not yet scored: of its wait, and of its end.
type Open struct{ Wait, End bool }

// UnscoredJobs returns the jobs of which forecasts are stored and not yet scored, and which these
// are.
func (s *Store) UnscoredJobs(ctx context.Context) (map[workload.Submission]Open, error) {
	jobs := map[workload.Submission]Open{}
	err := s.each(ctx, `SELECT job, submit, max(forecaster <> ?1), max(forecaster = ?1) FROM forecasts GROUP BY job, submit`, []any{completion.Name}, func(rows *sql.Rows) error {
		var job workload.Submission
		var open Open
		if err := rows.Scan(&job.ID, &job.Submit, &open.Wait, &open.End); err != nil {
			return err
		}
		jobs[job] = open
		return nil
	})
	return jobs, err
}

// encode encodes a distribution as little-endian float32. It reports false if d is no
// distribution.
func encode(d *delay.Distribution) ([]byte, bool) {
	b := make([]byte, 0, 4*delay.Points)
	for _, p := range d {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(p)))
	}
	return b, decode(b, &delay.Distribution{})
}

// decode decodes b, which encode wrote, into d. It reports false if b is not a distribution.
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
