package plot

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// scenarios are waits of three clusters and how busy they are, out of formulas.
func scenarios() (*Waits, *Load) {
	waits := &Waits{Title: "2,000 jobs, with and without reservations"}
	load := &Load{Title: "2,000 jobs on 128 processors"}
	for i, name := range []string{"none", "hard=10%", "varq=10%"} {
		var sample []int64
		for k := range 2000 {
			sample = append(sample, int64(math.Exp(float64(k-600)/1400*float64(11+i%2)))-1)
		}
		slices.Sort(sample)
		waits.Distributions = append(waits.Distributions, Distribution{name, sample})
		course := Course{Name: name, Step: 6 * 3600}
		for k := range 120 {
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
		var got bytes.Buffer
		if err := picture.Write(&got, "svg"); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("the picture is not %s; if it should be, run the test with -update and look at it", golden)
		}
		for _, says := range []string{"2,000 jobs", "none", "hard=10%", "varq=10%", "80 %"} {
			if !strings.Contains(got.String(), ">"+says) {
				t.Errorf("%s.svg does not say %q", name, says)
			}
		}
	}
}
