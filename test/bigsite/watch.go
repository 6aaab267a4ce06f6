package bigsite

import (
	"context"
	"slices"
	"sync"
	"time"
)

// watch submits jobs for as long as is to be measured, and measures.
func (l *lab) watch(ctx context.Context, f *Figures) (err error) {
	if f.Before, err = l.records(ctx); err != nil {
		return err
	}
	l.say("records in the queue: %v", f.Before)
	var before metrics
	if l.site != nil {
		if before, err = l.site.Metrics(ctx); err != nil {
			return err
		}
	}
	m, err := l.measureUsage()
	if err != nil {
		return err
	}
	var ages []float64
	watching, stop := context.WithCancel(ctx)
	var wait sync.WaitGroup
	if l.site != nil {
		wait.Go(func() { ages = l.ages(watching) })
	}
	began := time.Now()
	err = l.pour(ctx, f)
	stop()
	wait.Wait()
	if err != nil {
		return err
	}
	used, busy, err := m.usage()
	if err != nil {
		return err
	}
	f.Daemons, f.Busy = used, busy/time.Since(began).Seconds()
	if l.site != nil {
		after, err := l.site.Metrics(ctx)
		if err != nil {
			return err
		}
		f.Varqd = metrics(after).since(before)
		f.Varqd.AgeMean, f.Varqd.AgeMax = mean(ages), slices.Max(append(ages, 0))
	}
	f.After, err = l.records(ctx)
	return err
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / max(float64(len(values)), 1)
}
