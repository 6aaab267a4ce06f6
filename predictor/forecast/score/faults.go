package score

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/stats"
)

// Leads are the times, in seconds, by which a failure can have been announced.
var Leads = [...]int64{0, 6 * 3600, 86400, 7 * 86400}

// riskEdges are where the bins of risks begin.
var riskEdges = [...]float64{0, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, .001, .002, .005, .01, .02, .05, .1, .2, .5}

// Faults are the sums of the scores of one forecaster of failures. Each of its forecasts says how
// probable it is that one node fails within a day, and belongs to the time at which it was made.
type Faults struct {
	Risks [len(riskEdges)]Risks `json:"risks"`
	// Loss is the log loss in nats, and Constant that of the rate of all nodes, as it was known at
	// the time, in the same forecasts.
	Loss     float64 `json:"loss"`
	Constant float64 `json:"constant"`
	// Alarms counts the forecasts at or above the alarm level of their time, and Hits those of them
	// that came true.
	Alarms int `json:"alarms"`
	Hits   int `json:"hits"`
	// Failures counts the failures, and Ahead how many of them were announced by at least each of
	// Leads: so long before, and from then on, the node's risk was at or above the alarm level.
	Failures int             `json:"failures"`
	Ahead    [len(Leads)]int `json:"ahead"`
}

// Risks are the probabilities in one bin.
type Risks struct {
	N         int     `json:"n"`
	Predicted float64 `json:"predicted"` // their sum
	Failed    int     `json:"failed"`    // how many came true
}

// Add adds a forecast: the probability, whether it came true, whether it was an alarm, and what the
// forecaster and the constant rate lose by it, in nats.
func (f *Faults) Add(prob float64, failed, alarm bool, loss, constant float64) {
	at, found := slices.BinarySearch(riskEdges[:], prob)
	if !found {
		at--
	}
	bin := &f.Risks[max(at, 0)]
	bin.N++
	bin.Predicted += prob
	f.Loss += loss
	f.Constant += constant
	if alarm {
		f.Alarms++
	}
	if !failed {
		return
	}
	bin.Failed++
	if alarm {
		f.Hits++
	}
}

// Announce adds a failure, of a node whose risk had been at or above the alarm level for so many
// seconds, or was below it if that is negative.
func (f *Faults) Announce(lead int64) {
	f.Failures++
	for i := range Leads {
		if lead >= Leads[i] {
			f.Ahead[i]++
		}
	}
}

// Plus adds the sums of other forecasts.
func (f *Faults) Plus(other *Faults) {
	for i := range f.Risks {
		b, o := &f.Risks[i], &other.Risks[i]
		b.N += o.N
		b.Predicted += o.Predicted
		b.Failed += o.Failed
	}
	f.Loss += other.Loss
	f.Constant += other.Constant
	f.Alarms += other.Alarms
	f.Hits += other.Hits
	f.Failures += other.Failures
	for i := range f.Ahead {
		f.Ahead[i] += other.Ahead[i]
	}
}

// All returns the sums of all bins.
func (f *Faults) All() (all Risks) {
	for _, b := range f.Risks {
		all.N += b.N
		all.Predicted += b.Predicted
		all.Failed += b.Failed
	}
	return all
}

// Level returns the alarm level that these forecasts suggest: the risk at or above which at least
// as many of them lie as came true, with as few more as the bins allow. It is above 1 if none came
// true.
func (f *Faults) Level() float64 {
	left := f.All().Failed
	if left == 0 {
		return math.Inf(1)
	}
	for i, b := range slices.Backward(f.Risks[:]) {
		if left -= b.N; left <= 0 {
			return riskEdges[i]
		}
	}
	return 0
}

// DayFaults are the scores of one forecaster's forecasts of a day, as Day counts days.
type DayFaults struct {
	Day        int64
	Forecaster string
	Faults
}

// FaultRow is how one forecaster of failures did.
type FaultRow struct {
	Forecaster string
	Faults
	// Gain is the nats gained over the constant rate for each forecast that came true, and Low and
	// High are the ends of its interval. Sure is false if the weeks are too few for one.
	Gain, Low, High float64
	Sure            bool
	Reliability     []RiskPoint
}

// RiskPoint is one bin in a reliability diagram.
type RiskPoint struct {
	Count           int
	Mean            float64 // of the probabilities
	True, Low, High float64 // share that came true, with its interval as in Proportion
}

// FaultRows returns a row for each forecaster, in the order of their names.
func FaultRows(days []DayFaults) []FaultRow {
	by := map[string][]DayFaults{}
	for i := range days {
		by[days[i].Forecaster] = append(by[days[i].Forecaster], days[i])
	}
	var rows []FaultRow
	for _, forecaster := range slices.Sorted(maps.Keys(by)) {
		list := by[forecaster]
		slices.SortFunc(list, func(a, b DayFaults) int { return cmp.Compare(a.Day, b.Day) })
		rows = append(rows, faultRow(forecaster, list))
	}
	return rows
}

func faultRow(forecaster string, days []DayFaults) FaultRow {
	row := FaultRow{Forecaster: forecaster}
	var gains []stats.Ratio // by week
	var came [len(riskEdges)]Weekly
	last := int64(math.MinInt64)
	for i := range days {
		d := &days[i]
		row.Plus(&d.Faults)
		week := Week(d.Day)
		if week != last {
			gains, last = append(gains, stats.Ratio{}), week
		}
		g := &gains[len(gains)-1]
		g.Sum += d.Constant - d.Loss
		g.Of += float64(d.All().Failed)
		for k, b := range d.Risks {
			came[k].At(week).Plus(stats.Count{N: b.Failed, Of: b.N})
		}
	}
	if failed := row.All().Failed; failed > 0 {
		row.Gain = (row.Constant - row.Loss) / float64(failed)
		row.Low, row.High, row.Sure = stats.RatioInterval(gains, Confidence, rand.New(rand.NewPCG(1, 1)))
	}
	for k, b := range row.Risks {
		if b.N > 0 {
			p := came[k].Proportion()
			row.Reliability = append(row.Reliability, RiskPoint{Count: b.N, Mean: b.Predicted / float64(b.N), True: p.Share, Low: p.Low, High: p.High})
		}
	}
	return row
}
