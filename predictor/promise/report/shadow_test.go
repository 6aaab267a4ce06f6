package report

import (
	"math"
	"testing"
)

func TestShadows(t *testing.T) {
	const at = 1_000_000
	s := func(partition string, within, start, end int64) Shadow {
		return Shadow{Partition: partition, Prob: .9, Nodes: 2, Within: within, Eligible: at, Start: start, End: end}
	}
	rows := Shadows([]Shadow{
		s("main", 600, at+100, at+1100), // kept: 2 nodes idle for 500 s, and work for 1000 s
		s("main", 600, at+600, 0),       // kept in the last moment, and runs
		s("main", 600, at+601, at+701),  // missed
		s("main", 0, at+1, at+2),        // refused
		s("main", 600, 0, at+500),       // cancelled, too early to know
		s("main", 600, 0, at+700),       // cancelled, too late
		s("gpu", 600, 0, 0),             // waits, and is late
		s("gpu", 6000, 0, 0),            // waits
	}, at+1000)
	if len(rows) != 3 || rows[0].Partition != "" || rows[1].Partition != "gpu" || rows[2].Partition != "main" {
		t.Fatalf("%+v", rows)
	}
	for i, want := range []ShadowRow{
		{Jobs: 8, Refused: 1, Kept: 2, Missed: 3, Unknown: 2, Delivered: .4, Held: 1000, Ratio: 1000. / 2200},
		{Jobs: 2, Missed: 1, Unknown: 1},
		{Jobs: 6, Refused: 1, Kept: 2, Missed: 2, Unknown: 1, Delivered: .5, Held: 1000, Ratio: 1000. / 2200},
	} {
		got := rows[i]
		if got.Jobs != want.Jobs || got.Refused != want.Refused || got.Kept != want.Kept || got.Missed != want.Missed || got.Unknown != want.Unknown ||
			got.Delivered != want.Delivered || got.Held != want.Held || math.Abs(got.Ratio-want.Ratio) > 1e-12 {
			t.Errorf("%d: %+v", i, got)
		}
		if !(got.Low <= got.Delivered && got.Delivered <= got.High && got.High <= 1) {
			t.Errorf("%d: interval %v to %v", i, got.Low, got.High)
		}
	}
}
