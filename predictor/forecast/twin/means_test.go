package twin

import "testing"

// TestMeans: where one job in four runs for an hour and the others for a minute, the work of a long
// queue is that of means, which medians leave out and limits overstate. While only jobs that run
// are ahead, the first of them to end leave room soon.
func TestMeans(t *testing.T) {
	b := sit(poolOf(10))
	now := int64(1000)
	for n := range 400 {
		j := b.start(now, b.submit(now, 10, 7200))
		run := int64(60)
		if n%4 == 3 {
			run = 3600
		}
		now += run
		b.end(now, j)
	}
	for range 10 {
		b.start(now, b.submit(now, 1, 7200))
	}
	if p := b.w.Point(request(1, 7200), now+1, 0); p.Means > 600 || p.Limits < 7000 {
		t.Errorf("behind jobs that run: %d s by means, %d by limits", p.Means, p.Limits)
	}
	const waiting = 40
	for range waiting {
		b.submit(now, 10, 7200)
	}
	p := b.w.Point(request(10, 7200), now+1, 0)
	const work = waiting * (3*60 + 3600) / 4
	if p.Means < work*2/3 || p.Means > work*3/2 || p.Expected > work/2 || p.Limits < 5*work {
		t.Errorf("behind %d s of work: %d s by means, %d by medians, %d by limits", work, p.Means, p.Expected, p.Limits)
	}
}
