package plot

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// scenarios returns made-up waits and loads of three clusters.
func scenarios() (*Waits, *Load) {
	waits := &Waits{Title: "2,000 jobs, with and without reservations"}
	load := &Load{Title: "2,000 jobs on 128 processors"}
	for i, name := range []string{"none", "hard=10%", "varq=10%"} {
		var percentiles []int64
		for k := range 101 {
			percentiles = append(percentiles, int64(math.Exp(float64(k-30)/70*float64(11+i%2)))-1)
		}
		waits.Distributions = append(waits.Distributions, Distribution{name, percentiles})
		course := Course{Name: name, Start: 86400, Step: 12 * 3600}
		for k := range 60 {
			course.Queued = append(course.Queued, max(0, 20+float64(10+5*i)*math.Sin(float64(k)/5)))
			course.Busy = append(course.Busy, .7+.05*float64(i)+.1*math.Cos(float64(k)/3))
		}
		load.Courses = append(load.Courses, course)
	}
	return waits, load
}

func TestSimulatedSVG(t *testing.T) {
	waits, load := scenarios()
	for name, picture := range map[string]Picture{"waits": waits, "load": load} {
		got := expect(t, name, picture)
		for _, says := range []string{"2,000 jobs", "none", "hard=10%", "varq=10%", "80 %"} {
			if !strings.Contains(got, ">"+says) {
				t.Errorf("%s.svg does not say %q", name, says)
			}
		}
	}
}

// Pictures of few data must not panic.
func TestSmallSimulatedPictures(t *testing.T) {
	for name, picture := range map[string]Picture{
		"no wait":     &Waits{Distributions: []Distribution{{"all", make([]int64, 101)}}},
		"two waits":   &Waits{Distributions: []Distribution{{"none", nil}, {"all", []int64{30, 1 << 40}}}},
		"one minute":  &Load{Courses: []Course{{Name: "all", Step: 60, Queued: []float64{0}, Busy: []float64{0}}}},
		"three hours": &Load{Courses: []Course{{Name: "all", Step: 3 * 3600, Queued: []float64{2}, Busy: []float64{1}}}},
	} {
		for _, format := range []string{"svg", "png"} {
			if err := picture.Write(&bytes.Buffer{}, format); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for name, picture := range map[string]Picture{
		"nobody":   &Waits{Distributions: []Distribution{{"all", nil}}},
		"no time":  &Load{Courses: []Course{{Name: "all"}}},
		"no place": &Load{},
	} {
		if err := picture.Write(&bytes.Buffer{}, "svg"); err == nil || !strings.Contains(err.Error(), "nothing to draw") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
