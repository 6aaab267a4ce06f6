package sched

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkProfile measures profiles by their number of steps. They are like those of jobs of 1
// to 32 processors and up to 50 minutes on 256 processors, with a change every 100 seconds.
func BenchmarkProfile(b *testing.B) {
	const hour = 3600
	for _, steps := range []int{50, 200, 500, 20_000, 100_000} {
		rng := rand.New(rand.NewPCG(1, 1))
		span := int64(steps) * 100
		full, p := new(Profile), new(Profile)
		full.Reset(0, 256)
		for full.Len() < steps {
			t, length, n := 1+rng.Int64N(span), 1+rng.Int64N(3000), 1+rng.Int32N(32)
			if full.Fits(t, t+length, n) {
				full.Add(t, t+length, -n)
			}
		}
		var times [1024]int64
		for i := range times {
			times[i] = 1 + rng.Int64N(span)
		}
		for _, op := range []struct {
			name string
			do   func(t int64)
		}{
			{"At", func(t int64) { p.At(t) }},
			{"AddTwice", func(t int64) { p.Add(t, t+hour, -1); p.Add(t, t+hour, 1) }},
			{"AddTwiceNow", func(t int64) { p.Add(0, t, -1); p.Add(0, t, 1) }},
			{"Fits", func(t int64) { p.Fits(t, t+hour, 8) }},
			{"EarliestFit", func(t int64) { p.EarliestFit(t, hour, 128) }},
			{"EarliestFitNow", func(int64) { p.EarliestFit(0, 2*hour, 128) }},
			{"EarlierFitNone", func(t int64) { p.EarlierFit(0, t, hour, 257) }},
			{"EarlierFit", func(t int64) { p.EarlierFit(0, t, 2*hour, 200) }},
			{"LatestFit", func(t int64) { p.LatestFit(0, t, hour, 128) }},
			{"CopyFrom", func(int64) { p.CopyFrom(full) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", op.name, steps), func(b *testing.B) {
				b.ReportAllocs()
				p.CopyFrom(full)
				for i := 0; b.Loop(); i++ {
					op.do(times[i%len(times)])
				}
			})
		}
		b.Run(fmt.Sprintf("AddAdvance/%d", steps), func(b *testing.B) {
			b.ReportAllocs()
			p.CopyFrom(full)
			now := int64(0)
			for i := 0; b.Loop(); i++ {
				now += 100
				p.Add(now+times[i%len(times)], now+span, 1)
				p.Advance(now)
			}
		})
	}
}
