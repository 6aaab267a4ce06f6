package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/forecast/score/group"
	"github.com/varq-project/varq/predictor/trial/backtest"
)

// judged returns the score of the first method that is not a baseline, or nil if there is none.
func (l *evaluatedLog) judged() *backtest.Score {
	i := slices.IndexFunc(l.Scores, func(s backtest.Score) bool { return !backtest.IsBaseline(s.Method) })
	if i < 0 {
		return nil
	}
	return &l.Scores[i]
}

// verdict says in three sentences how good the method s is: its loss, its coverage, and where it is
// worst.
func (l *evaluatedLog) verdict(s *backtest.Score) string {
	if s.Answered == 0 {
		return fmt.Sprintf("%s has forecast nothing.", s.Method)
	}
	return fmt.Sprintf("%s %s %s", l.lossVerdict(s), coverageVerdict(s), l.worstVerdict(s))
}

func (l *evaluatedLog) lossVerdict(s *backtest.Score) string {
	var losses, months, quantiles []string
	for i, q := range s.Quantiles {
		loss, month := l.AgainstBest(s, i), l.ByMonth(s, i)
		if loss == nil {
			return fmt.Sprintf("%s is compared with no baseline.", s.Method)
		}
		quantiles, losses = append(quantiles, fmt.Sprint(q.Quantile)), append(losses, cli.Share(*loss))
		if month != nil {
			months = append(months, cli.Share(*month))
		}
	}
	monthly := ""
	if len(months) == len(losses) {
		monthly = fmt.Sprintf(", and %s in the mean month", listed(months))
	}
	return fmt.Sprintf("At %s %s loses %s of what the best baseline does%s.", listed(quantiles), s.Method, listed(losses), monthly)
}

func coverageVerdict(s *backtest.Score) string {
	var held, verdicts, each []string
	for _, q := range s.Quantiles {
		verdict := score.Judge(q.Coverage.Low, q.Coverage.High, q.Quantile)
		held = append(held, shareOf(q.Coverage, q.Coverage.Share))
		verdicts = append(verdicts, string(verdict))
		each = append(each, fmt.Sprintf("%v %s", q.Quantile, verdict))
	}
	if alike := slices.Compact(verdicts); len(alike) == 1 {
		each = alike
	}
	return fmt.Sprintf("These quantiles hold in %s of the cases: %s.", listed(held), listed(each))
}

func (l *evaluatedLog) worstVerdict(s *backtest.Score) string {
	if len(s.Worst) == 0 {
		return fmt.Sprintf("No group of %d jobs or more is off by more than chance.", group.Least)
	}
	g := s.Worst[0]
	i := g.MostOff(l.quantiles())
	return fmt.Sprintf("Most off are the %s jobs of %s %s, of which %v holds in %s.", cli.Thousands(g.Jobs), g.By, g.Value, l.quantiles()[i], interval(g.Coverage[i]))
}

// listed joins items as a sentence does.
func listed(items []string) string {
	last := len(items) - 1
	if last < 1 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:last], ", ") + " and " + items[last]
}
