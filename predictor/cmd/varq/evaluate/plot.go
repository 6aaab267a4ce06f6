package evaluate

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/varq-project/varq/predictor/plot"
	"github.com/varq-project/varq/predictor/trial/backtest"
	"github.com/varq-project/varq/predictor/trial/study"
)

// drawScores draws three pictures of each log into a folder. Their names begin with
// the log's. Those that would be empty are named on stderr.
func drawScores(stderr io.Writer, dir string, logs []*evaluatedLog) error {
	for _, log := range logs {
		name, _, _ := strings.Cut(log.Source, ".swf")
		some := log.drawn()
		for _, p := range []struct {
			file    string
			picture plot.Picture
		}{
			{name + "-reliability.svg", &plot.Reliability{Title: name + ": probabilities of a start in time", Curves: curves(some)}},
			{name + "-coverage.svg", &plot.Coverage{Title: name + ": share of the waits within each quantile, by month", Scores: some}},
			{name + "-pinball.svg", log.pinball(name + ": pinball loss in parts of the mean wait")},
		} {
			err := plot.Save(filepath.Join(dir, p.file), p.picture)
			if errors.Is(err, plot.ErrNothing) {
				fmt.Fprintf(stderr, "varq: %s: %v\n", p.file, err)
				err = nil
			}
			if err != nil {
				return fmt.Errorf("--plot: %w", err)
			}
		}
	}
	return nil
}

// drawn returns the scores of which there are lines: all but those of the baselines,
// and of these the best at the last quantile.
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

// curves returns those of the reliability diagram.
func curves(scores []backtest.Score) []plot.Curve {
	var all []plot.Curve
	for _, s := range scores {
		all = append(all, plot.Curve{Name: s.Method, Points: s.Reliability})
	}
	return all
}

// pinball returns the bars of all methods, in groups of the quantiles.
func (l *evaluatedLog) pinball(title string) plot.Figure {
	figure := study.Figure{Title: title, Y: "pinball loss / mean wait"}
	for _, s := range l.Scores {
		figure.Labels = append(figure.Labels, strings.ReplaceAll(s.Method, "-", "\n"))
	}
	for i, q := range l.quantiles() {
		series := study.Series{Name: fmt.Sprint(q)}
		for _, s := range l.Scores {
			height := 0.
			if relative := s.Quantiles[i].Relative; relative != nil {
				height = *relative
			}
			series.Y = append(series.Y, height)
		}
		figure.Series = append(figure.Series, series)
	}
	return plot.Figure(figure)
}
