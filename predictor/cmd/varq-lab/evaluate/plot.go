package evaluate

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/varq-project/varq/predictor/plot"
	"github.com/varq-project/varq/predictor/trial/backtest"
)

// drawScores draws three pictures of each log into the folder dir. The names of the files
// begin with the name of the log. An empty picture is not drawn, and named on stderr.
func drawScores(stderr io.Writer, dir string, logs []*evaluatedLog) error {
	for _, log := range logs {
		name, _, _ := strings.Cut(log.Source, ".swf")
		some := log.drawn()
		for _, p := range []struct {
			file    string
			picture plot.Picture
		}{
			{name + "-reliability.svg", &plot.Reliability{Title: name + ": probabilities of a start in time", Curves: curves(some)}},
			{name + "-coverage.svg", coverage(name+": share of the waits within each quantile, by month", some)},
			{name + "-pinball.svg", log.pinball(name + ": pinball loss in parts of the mean wait")},
		} {
			err := plot.Save(filepath.Join(dir, p.file), p.picture)
			if errors.Is(err, plot.ErrNothing) {
				fmt.Fprintf(stderr, "varq-lab: %s: %v\n", p.file, err)
				err = nil
			}
			if err != nil {
				return fmt.Errorf("--plot: %w", err)
			}
		}
	}
	return nil
}

// drawn returns the scores that get lines in the pictures: those of all methods except the
// baselines, and that of the baseline that is best at the last quantile.
func (l *evaluatedLog) drawn() []backtest.Score {
	var some []backtest.Score
	for _, s := range l.Scores {
		if !backtest.IsBaseline(s.Method) {
			some = append(some, s)
		}
	}
	if best := l.Best(len(l.quantiles()) - 1); best != nil {
		some = append(some, *best)
	}
	return some
}

// curves returns the curves of the reliability diagram.
func curves(scores []backtest.Score) []plot.Curve {
	var all []plot.Curve
	for _, s := range scores {
		all = append(all, plot.Curve{Name: s.Method, Points: s.Reliability})
	}
	return all
}

// coverage returns the picture of the coverage by month, in the months with jobs enough.
func coverage(title string, scores []backtest.Score) *plot.Coverage {
	picture := &plot.Coverage{Title: title, Least: backtest.BusyMonth}
	for i, s := range scores {
		method := plot.Covered{Name: s.Method}
		for k, month := range scores[0].Months {
			if month.Jobs < backtest.BusyMonth {
				continue
			}
			method.Months = append(method.Months, s.Months[k].Coverage)
			if i == 0 {
				picture.Months = append(picture.Months, month.Month)
			}
		}
		picture.Methods = append(picture.Methods, method)
	}
	if len(scores) > 0 {
		for _, q := range scores[0].Quantiles {
			picture.Quantiles = append(picture.Quantiles, q.Quantile)
		}
	}
	return picture
}

// pinball returns a figure with a group of bars for each method, and a bar for each quantile.
func (l *evaluatedLog) pinball(title string) plot.Figure {
	figure := plot.Figure{Title: title, Y: "pinball loss / mean wait"}
	for _, s := range l.Scores {
		figure.Labels = append(figure.Labels, strings.ReplaceAll(s.Method, "-", "\n"))
	}
	for i, q := range l.quantiles() {
		series := plot.Series{Name: fmt.Sprint(q)}
		for _, s := range l.Scores {
			height := 0.
			if relative := s.Quantiles[i].Relative; relative != nil {
				height = *relative
			}
			series.Y = append(series.Y, height)
		}
		figure.Series = append(figure.Series, series)
	}
	return figure
}
