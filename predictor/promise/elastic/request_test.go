package elastic

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sound returns a request without fault at the time 1000.
func sound() Request {
	return Request{
		Earliest: 5000, Latest: 5000 + 4*3600, Sizes: []Size{{4, 3 * 3600}, {8, 3600}},
		Prefer: DefaultPreferences(), MinProb: .85, Slots: DefaultSlots, Gap: DefaultGap,
	}
}

func TestRequestCheck(t *testing.T) {
	r := sound()
	if err := r.Check(1000); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(r *Request){
		"the window needs an earliest and a latest time":                      func(r *Request) { r.Earliest = 0 },
		"the window is empty: it ends when it begins":                         func(r *Request) { r.Latest = r.Earliest },
		"the window is reversed: it ends before it begins":                    func(r *Request) { r.Latest = r.Earliest - 1 },
		"the window is longer than a century, or as far away":                 func(r *Request) { r.Latest = math.MaxInt64 },
		"the window has passed":                                               func(r *Request) { r.Earliest, r.Latest = 10, 1000 },
		"NaN is not a least probability between 0 and 1":                      func(r *Request) { r.MinProb = math.NaN() },
		"1 is not a least probability between 0 and 1":                        func(r *Request) { r.MinProb = 1 },
		"0 is not a number of slots from 1 to 10000":                          func(r *Request) { r.Slots = 0 },
		"10001 is not a number of slots from 1 to 10000":                      func(r *Request) { r.Slots = 10001 },
		"-1 s is not a gap between slots":                                     func(r *Request) { r.Gap = -1 },
		"there are no sizes":                                                  func(r *Request) { r.Sizes = nil },
		"there are no preferences (try end,cost,-prob)":                       func(r *Request) { r.Prefer = nil },
		"cost is preferred twice":                                             func(r *Request) { r.Prefer = Preferences{{By: Cost}, {By: End}, {Cost, true}} },
		"no size fits into the window of 00:59:59: the fastest is 8:01:00:00": func(r *Request) { r.Latest = r.Earliest + 3599 },
		// it has begun
		"no size fits into the window of 00:50:00: the fastest is 8:01:00:00": func(r *Request) { r.Earliest, r.Latest = 100, 4000 },
	} {
		r := sound()
		change(&r)
		if err := r.Check(1000); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestFitting(t *testing.T) {
	r := sound()
	for _, c := range []struct {
		now    int64
		factor float64
		want   []Size
	}{
		{1000, 1, r.Sizes},
		{1000, 1.5, []Size{{8, 5400}}},
		{1000, .5, []Size{{4, 5400}, {8, 1800}}},
		{5000 + 2*3600, 1, []Size{{8, 3600}}},
		{1000, 5, nil},
		{1 << 40, 1, nil},
	} {
		if diff := cmp.Diff(c.want, r.Fitting(c.now, c.factor)); diff != "" {
			t.Errorf("%+v:\n%s", c, diff)
		}
	}
}

func TestStartTimes(t *testing.T) {
	for _, c := range []struct {
		earliest, latest, seconds int64
		most                      int
		gap                       int64
		want                      []int64
	}{
		{0, 100, 100, 5, 10, []int64{0}},
		{0, 99, 100, 5, 10, nil},
		{0, 109, 100, 5, 10, []int64{0}},
		{0, 110, 100, 5, 10, []int64{0, 10}},
		{0, 140, 100, 5, 10, []int64{0, 10, 20, 30, 40}},
		{0, 145, 100, 5, 10, []int64{0, 11, 22, 33, 45}},
		{7, 1000, 3, 3, 0, []int64{7, 502, 997}},
		{7, 1000, 3, 1, 0, []int64{7}},
		{7, 1000, 3, 0, 0, nil},
		{0, 3, 0, 100, 0, []int64{0, 1, 2, 3}},
	} {
		if diff := cmp.Diff(c.want, StartTimes(c.earliest, c.latest, c.seconds, c.most, c.gap)); diff != "" {
			t.Errorf("%+v:\n%s", c, diff)
		}
	}
}

// TestStartTimesConditions: section 3.2.3's conditions on how slots are distributed (Figure 4). The
// window is covered from the first to the last start, no gap is too small, there are not too many,
// and unless there are as many as allowed no further one would fit.
func TestStartTimesConditions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		earliest, gap := 1+random.Int64N(2e9), random.Int64N(1000)
		seconds := 1 + random.Int64N(100_000)
		latest := earliest + seconds + random.Int64N(1<<random.IntN(32))
		most := 1 + random.IntN(200)
		starts := StartTimes(earliest, latest, seconds, most, gap)
		last := latest - seconds
		if len(starts) < 1 || len(starts) > most || starts[0] != earliest {
			t.Fatalf("%d from %d: %v", most, earliest, starts)
		}
		if least := max(1, gap); len(starts) > 1 && starts[len(starts)-1] != last || len(starts) < most && (last-earliest)/int64(len(starts)) >= least {
			t.Fatalf("%d from %d to %d, %d apart: %v", most, earliest, last, gap, starts)
		}
		for i := 1; i < len(starts); i++ {
			even := float64(last-earliest) / float64(len(starts)-1)
			if d := starts[i] - starts[i-1]; d < max(1, gap) || math.Abs(float64(d)-even) > 1 {
				t.Fatalf("%d apart instead of %d and %v: %v", d, gap, even, starts)
			}
		}
	}
}

func TestStarts(t *testing.T) {
	r := sound()
	r.Slots = 3
	if diff := cmp.Diff([]int64{5000, 8600, 12200}, r.Starts(1000, 7200)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{10200, 11200, 12200}, r.Starts(10200, 7200)); diff != "" {
		t.Error(diff)
	}
}

func TestAccept(t *testing.T) {
	good := Slot{Site: "north", Partition: "cpu", Start: 5000, End: 5000 + 3600, Nodes: 8, Limit: 3600, Cost: 12, Prob: .9}
	r := sound()
	if err := r.Accept(&good); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(s *Slot){
		"it has no site": func(s *Slot) { s.Site = "" },
		`its site "xxxxxxxxxxxxxxxxxxxx"... is too long`:        func(s *Slot) { s.Site = strings.Repeat("x", 257) },
		`its site "a\x1b[2J" cannot be shown`:                   func(s *Slot) { s.Site = "a\x1b[2J" },
		`its partition "a\nb" cannot be shown`:                  func(s *Slot) { s.Partition = "a\nb" },
		"-5 to 8600 is not a time":                              func(s *Slot) { s.Start = -5 },
		"5000 to 9223372036854775807 is not a time":             func(s *Slot) { s.End = math.MaxInt64 },
		"it ends at 5000, and begins at 5000":                   func(s *Slot) { s.End = 5000 },
		"0 is not a number of nodes from 1 to 1048576":          func(s *Slot) { s.Nodes = 0 },
		"2147483647 is not a number of nodes from 1 to 1048576": func(s *Slot) { s.Nodes = math.MaxInt32 },
		"a time limit of 3601 s is not one from 1 to 3600 s":    func(s *Slot) { s.Limit++ },
		"a time limit of 0 s is not one from 1 to 3600 s":       func(s *Slot) { s.Limit = 0 },
		"NaN is not a cost":                                     func(s *Slot) { s.Cost = math.NaN() },
		"+Inf is not a cost":                                    func(s *Slot) { s.Cost = math.Inf(1) },
		"-1 is not a cost":                                      func(s *Slot) { s.Cost = -1 },
		"NaN is not a probability":                              func(s *Slot) { s.Prob = math.NaN() },
		"1.01 is not a probability":                             func(s *Slot) { s.Prob = 1.01 },
		"it is not in the window":                               func(s *Slot) { s.Start-- },
		"nobody asked for 5 nodes":                              func(s *Slot) { s.Nodes = 5 },
	} {
		s := good
		change(&s)
		if err := r.Accept(&s); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	late := good
	late.End = r.Latest + 1
	if err := r.Accept(&late); err == nil || err.Error() != "it is not in the window" {
		t.Error(err)
	}
}

func TestParsePreferences(t *testing.T) {
	for text, want := range map[string]Preferences{
		"end,cost,-prob": DefaultPreferences(),
		"-nodes , start": {{Nodes, true}, {By: Start}},
		"work,time,-end": {{By: Work}, {By: Time}, {End, true}},
	} {
		got, err := ParsePreferences(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
		if got.String() != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%s is written %s", text, got)
		}
	}
	for text, want := range map[string]string{
		"":                         "there are no preferences (try end,cost,-prob)",
		"end,":                     `"" is not a preference: there are end, start, time, nodes, work, cost, prob, with - for the most`,
		"fast":                     `"fast" is not a preference: there are end, start, time, nodes, work, cost, prob, with - for the most`,
		"--end":                    `"-end" is not a preference: there are end, start, time, nodes, work, cost, prob, with - for the most`,
		"End":                      `"End" is not a preference: there are end, start, time, nodes, work, cost, prob, with - for the most`,
		"end,-end":                 "end is preferred twice",
		strings.Repeat("end,", 60): `"end,end,end,end,end,end,end,end,end,end,"... is too long for preferences (try end,cost,-prob)`,
	} {
		if _, err := ParsePreferences(text); err == nil || err.Error() != want {
			t.Errorf("%.40q: got  %v\nwant %s", text, err, want)
		}
	}
}

// FuzzParsePreferences: what is read is sound, and read again as it is written.
func FuzzParsePreferences(f *testing.F) {
	for _, text := range []string{"end,cost,-prob", "-nodes , start", "-,", "work"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePreferences(text)
		if err != nil {
			return
		}
		again, err := ParsePreferences(p.String())
		if diff := cmp.Diff(p, again); err != nil || diff != "" {
			t.Errorf("%q is %v: %v\n%s", text, p, err, diff)
		}
	})
}
