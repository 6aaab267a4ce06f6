package score

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/forecasttest"
)

// stream generates days of forecasts. They all forecast the same exponential wait, while the
// truth may have another mean. Waits of half a day depend on each other by a common rank, so
// binomial intervals would be too narrow.
func stream(r *rand.Rand, days int, truth func(day int) float64) []Daily {
	const jobs, said = 60, 3600.
	forecast := forecasttest.ExponentialOrNone(.2, said)
	list := make([]Daily, days)
	for day := range list {
		list[day].Day = int64(day)
		actual := forecasttest.ExponentialOrNone(.2, truth(day))
		common := r.Float64()
		for i := range jobs {
			if i == jobs/2 {
				common = r.Float64()
			}
			rank := common
			if r.IntN(2) == 0 {
				rank = r.Float64()
			}
			list[day].Add(forecast, actual.Quantile(rank), r.Float64())
		}
	}
	return list
}

func constant(mean float64) func(int) float64 { return func(int) float64 { return mean } }

func TestFalseAlarmsAreRare(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const streams, days = 60, 150
	alarms := 0
	for range streams {
		list := stream(r, days, constant(3600))
		for to := 5; to <= days; to += 5 {
			if Watch(list[:to], int64(to)).Found {
				alarms++
				break
			}
		}
	}
	if most := streams * days / AlarmEvery; alarms > most {
		t.Errorf("%d false alarms in %d days, at most %d are allowed", alarms, streams*days, most)
	}
}

// TestOverconfidenceIsSeen: waits become three times as long as before, so that
// about .7 of them are within the .95 quantile.
func TestOverconfidenceIsSeen(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	kept := 0
	for range 20 {
		list := stream(r, 60, func(day int) float64 {
			if day < 30 {
				return 3600
			}
			return 3 * 3600
		})
		if d := Watch(list[:30], 30); d.Found {
			t.Fatalf("before the change: %+v", d)
		}
		seen := 30
		for ; seen < 60 && !Watch(list[:seen], 60).Found; seen++ {
		}
		d := Watch(list[:seen], 60)
		if !d.Found || seen > 30+20 || d.Since < 20 || d.Since > int64(seen) {
			t.Fatalf("seen on day %d: %+v", seen, d)
		}
		if text := d.String(); !strings.HasPrefix(text, "promises too much since 1970-0") {
			t.Error(text)
		}
		if Watch(list, 60).Found {
			kept++
		}
	}
	if kept < 18 {
		t.Errorf("%d of 20 drifts are still seen while they last", kept)
	}
}

func TestCautionIsSeenAndForgotten(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	list := stream(r, 120, func(day int) float64 {
		if day < 60 {
			return 600
		}
		return 3600
	})
	d := Watch(list[:60], 60)
	if !d.Found || !strings.HasPrefix(d.String(), "is too cautious since 1970-01-0") {
		t.Errorf("%+v: %v", d, d)
	}
	if d := Watch(list[:90], 90); d.Found {
		t.Errorf("30 days after it was over: %v", d)
	}
}

func TestDaysThatAreNotOver(t *testing.T) {
	bad := func(day int64) Daily { return Daily{Day: day, Sums: Sums{Forecasts: 100}} }
	var list []Daily
	for day := range int64(4) {
		list = append(list, bad(day))
	}
	if !Watch(list, 4).Found {
		t.Fatal("nothing covered for four days, and nothing seen")
	}
	if Watch(list, 1).Found {
		t.Error("days were judged before they were over")
	}
	list[0].Open = 5
	if Watch(list, 4).Found {
		t.Error("a day was judged while its forecasts waited")
	}
	if !Watch(list, 4+patience).Found {
		t.Error("a job that waits for ever hides everything after it")
	}
	list[0].Overdue = 5
	if !Watch(list, 4).Found {
		t.Error("what is overdue is known")
	}
	if Watch(nil, 4).Found {
		t.Error("drifted without a forecast")
	}
}

// TestSparseDays: a few forecasts a day are not yet a block.
func TestSparseDays(t *testing.T) {
	var list []Daily
	for day := range int64(20) {
		list = append(list, Daily{Day: day, Sums: Sums{Forecasts: 2}})
	}
	if Watch(list, 30).Found {
		t.Error("20 days with two forecasts each are two blocks")
	}
}

func BenchmarkWatch(b *testing.B) {
	list := stream(rand.New(rand.NewPCG(1, 1)), 90, constant(3600))
	for b.Loop() {
		Watch(list, 90)
	}
}
