package joint

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/trial/study"
)

// Report implements study.Study.
func (s Study) Report(o study.Options, outcomes []study.Outcome) study.Report {
	r := study.ResultsOf(outcomes, s.seeds(o))
	report := study.Report{
		Name:        "joint",
		Title:       "promises about two sites, any of both or all, with the independence of Nurmi, Wolski and Brevik, VARQ (2007), section 4.6, and without",
		Differences: differences(o),
	}
	for _, setting := range settings {
		report.Tables = append(report.Tables, setting.table(r))
	}
	for _, kind := range kinds {
		for i, setting := range settings {
			if figure, ok := setting.figure(r, kind.name, fmt.Sprintf("%s-%d", kind.name, i+1)); ok {
				report.Figures = append(report.Figures, figure)
			}
		}
	}
	return report
}

// weeks returns a value of each week, summed over the seeds.
func (s setting) weeks(r study.Results, value string) []float64 { return r.Weeks(s.name, value+" %d") }

// keptShare is a share in per cent, with what was promised of it.
type keptShare struct {
	kept, said study.Interval
	n          int
	verdict    score.Verdict
}

// share returns how many promises were kept, by weeks, and the verdict on them.
func (s setting) share(r study.Results, which string) keptShare {
	n, kept := s.weeks(r, "n "+which), s.weeks(r, "kept "+which)
	var weeks []stats.Count
	for i := range n {
		if n[i] > 0 {
			weeks = append(weeks, stats.Count{N: int(kept[i]), Of: int(n[i])})
		}
	}
	all := stats.Sum(weeks)
	mean := 100 * all.Share()
	share := keptShare{
		kept:    study.Interval{Mean: mean, Low: mean, High: mean, N: min(1, len(weeks))},
		said:    study.Percent(s.weeks(r, "said "+which), n),
		n:       all.Of,
		verdict: score.TooLittle,
	}
	low, high, ok := stats.BlockInterval(weeks, .95, rand.New(rand.NewPCG(1, 0)))
	if !ok {
		return share
	}
	share.kept = study.Interval{Mean: mean, Low: 100 * low, High: 100 * high, N: len(weeks)}
	share.verdict = score.Judge(low, high, share.said.Mean/100)
	return share
}

func (s keptShare) note() string {
	gap := ""
	if s.verdict == score.LessThanPromised || s.verdict == score.MoreThanPromised {
		gap = fmt.Sprintf("%.1f points ", math.Abs(s.kept.Mean-s.said.Mean))
	}
	return fmt.Sprintf("%.1f %% promised on average, %d promises: %s%s", s.said.Mean, s.n, gap, s.verdict)
}

func (s setting) table(r study.Results) study.Table {
	t := study.Table{Title: s.name}
	row := func(name, unit string, paper *float64, ours study.Interval, note string) {
		t.Rows = append(t.Rows, study.Row{Name: name, Unit: unit, Paper: paper, Ours: ours, Note: note})
	}
	correlation := study.Percent(s.weeks(r, "correlation any"), s.weeks(r, "asked any"))
	row("measured correlation, times 100", "", nil, correlation, "of the normal scores of waits under their forecasts, when asked")
	if example := s.share(r, "example"); example.n > 0 {
		row("any of two, each of which starts with .85 to .95", "% kept", study.Paper(99), example.kept, "independence: "+example.note())
	}
	for band := range len(bands) - 1 {
		if share := s.share(r, fmt.Sprintf("each %d", band)); share.n > 0 {
			row(fmt.Sprintf("each by itself, %g to %g", bands[band], bands[band+1]), "% kept", nil, share.kept, share.note())
		}
	}
	for _, kind := range kinds {
		asked := s.weeks(r, "asked "+kind.name)
		row(kind.name+": came true", "% of all questions", nil, study.Percent(s.weeks(r, "came "+kind.name), asked), "")
		for _, m := range methods {
			row(fmt.Sprintf("%s, %s: Brier score, times 100", kind.name, m.name), "", nil, study.Percent(s.weeks(r, "error "+kind.name+" "+m.name), asked), "")
		}
		for band := range len(bands) - 1 {
			for _, m := range methods {
				share := s.share(r, fmt.Sprintf("%s %d %s", kind.name, band, m.name))
				if share.n > 0 {
					row(fmt.Sprintf("%s, %g to %g, %s", kind.name, bands[band], bands[band+1], m.name), "% kept", nil, share.kept, share.note())
				}
			}
		}
	}
	return t
}

// fewestWeeks is the least number of promises of a point of a figure.
const fewestWeeks = 30

// figure shows promised against kept. It reports false if there is too little to show.
func (s setting) figure(r study.Results, kind, name string) (f study.Figure, ok bool) {
	f = study.Figure{Name: name, Title: fmt.Sprintf("%s of two: %s", kind, s.name), X: "promised, %", Y: "kept, %", Near: true}
	for _, m := range methods {
		line := study.Series{Name: m.name}
		for band := range len(bands) - 1 {
			if share := s.share(r, fmt.Sprintf("%s %d %s", kind, band, m.name)); share.n >= fewestWeeks {
				line.X, line.Y = append(line.X, share.said.Mean), append(line.Y, share.kept.Mean)
			}
		}
		if len(line.X) > 1 {
			f.Series = append(f.Series, line)
		}
	}
	if len(f.Series) == 0 {
		return f, false
	}
	ends := []float64{100 * bands[0], 100 * bands[len(bands)-1]}
	f.Series = append(f.Series, study.Series{Name: "as promised", X: ends, Y: slices.Clone(ends)})
	return f, true
}

func differences(o study.Options) []string {
	d := []string{
		"The paper says that machines almost certainly behave independently with respect to queue delay, so that of two reservations of .9 at least one succeeds with .99; it measures nothing. That is the paper's only number here, and the jobs beside it are those that start with .85 to .95 each, by varqd's forecasts.",
		"Jobs are the first of real logs, as they waited. varqd's forecaster learns on line along each; its first tenth is only learnt from. The deadline of a question is a quarter of an hour to a day after the submission, at random, and the same for both jobs.",
		"A job of the first log asks together with the next job that is submitted to the other within half an hour, of half to twice as many processors: both have their own waits. So no request changes a queue, and what an additional job would do to it is left out.",
		"The logs of KTH and of SDSC are of different years, and are laid on one another by whole weeks, another shift with each seed: they have nothing in common but the hours and the days of the week. Where two users ask the same machine, the second is the next other user, as if two partitions shared all nodes: that is real dependence.",
		"At made-up sites forecasts are true of each site alone. One job in five waits thirty times as long as usual, in troubles of half a day; where these are common, the dependence is not that of the copula that is reckoned with.",
		"Correlations and recalibration are learnt along the same jobs, from what was known when each question was asked; the first tenth of the questions is only learnt from. Promises of .99 or more are left out: nearly all are of jobs that start at once.",
		"Intervals are of a bootstrap over the weeks in which questions were asked, all seeds together: weeks are taken as independent of one another. More or less than promised means that the mean promise is outside the interval, as it is once in twenty where they are equal. Nothing was chosen by these numbers, except that the made-up troubles were made strong enough to be seen.",
	}
	if o.Quick {
		d = append(d, fmt.Sprintf("Quick: only %d jobs of each log, and %d made-up days.", quickJobs, quickDays))
	}
	return d
}
