package plot

import (
	"bytes"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// figure4 returns the data of the paper's Figure 4: two classes, and .5 asked for. It covers
// the 12 hours to 2:49 AM on 7 March 2007 in Illinois.
func figure4() *Trajectory {
	zone := time.FixedZone("CST", -6*3600)
	t := &Trajectory{
		Title:    "4 nodes for 1 hour",
		Prob:     .5,
		BeginBy:  time.Date(2007, time.March, 7, 2, 49, 0, 0, zone).Unix(),
		Location: zone,
	}
	for s := int64(0); s < 43200; s += 300 {
		left := float64(43200 - s)
		pt := api.Point{BeginTime: t.BeginBy - 43200 + s, Class: "partition=dque limit>7h", Prob: .25 + .14*(left-21600)/21600}
		if s >= 21600 {
			pt.Class, pt.Prob = "partition=dque limit<=7h", .5+.2*(left-2730)/(21600-2730)
		}
		if left < 2730 {
			pt.Prob = .5 * left / 2730
		}
		t.Points = append(t.Points, pt)
	}
	t.Plan = &api.Plan{
		BeginTime: t.BeginBy - 3000, Estimate: .503,
		Worst: api.Cost{NodeSeconds: 12000}, Expected: api.Cost{NodeSeconds: 5400},
	}
	return t
}

func TestSVG(t *testing.T) {
	got := expect(t, "figure4", figure4())
	for _, says := range []string{
		"4 nodes for 1 hour", "50 %", "asked", "eligible at 01:59: 50.3 %", "extra cost at most 3.3 node-hours", "1.5 node-hours on average",
		"deadline", "02:49", "Tue 6 Mar", "limit&gt;7h", "limit&lt;=7h", "probability of a start by 02:49",
	} {
		if !strings.Contains(got, ">"+says) {
			t.Errorf("the picture does not say %q", says)
		}
	}
	if strings.Contains(got, "partition=dque") {
		t.Error("the picture repeats what all classes have in common")
	}
}

func TestNoExtraCost(t *testing.T) {
	picture := figure4()
	picture.Plan.Worst, picture.Plan.Expected = api.Cost{}, api.Cost{}
	got := string(drawn(t, picture, "svg"))
	if !strings.Contains(got, ">no extra cost<") || strings.Contains(got, "on average") {
		t.Error("the picture does not say that there is no extra cost")
	}
}

func TestPNG(t *testing.T) {
	img, err := png.Decode(bytes.NewReader(drawn(t, figure4(), "png")))
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != 1440 || size.Y != 720 {
		t.Errorf("%v pixels, want 1440x720", size)
	}
	seen := map[color.NRGBA]bool{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			seen[color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)] = true
		}
	}
	for name, c := range map[string]color.NRGBA{"curve": blue, "good enough": enough, "chosen": orange, "class": band} {
		if !seen[c] {
			t.Errorf("no %s, %v, in the picture", name, c)
		}
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	for name, start := range map[string]string{"a.svg": "<?xml", "b.PNG": "\x89PNG"} {
		path := filepath.Join(dir, name)
		if err := Save(path, figure4()); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(b), start) {
			t.Errorf("%s begins with %.10q, %v", name, b, err)
		}
	}
	if err := Save(filepath.Join(dir, "c.pdf"), figure4()); err == nil || !strings.Contains(err.Error(), "c.pdf") {
		t.Errorf("c.pdf: %v", err)
	}
	if err := Save(filepath.Join(dir, "missing", "d.svg"), figure4()); err == nil {
		t.Error("saved in a folder that does not exist")
	}
}

// Pictures of few data must not panic.
func TestSmallPictures(t *testing.T) {
	one := figure4()
	one.Points = one.Points[len(one.Points)-1:]
	refused := figure4()
	refused.Plan, refused.Prob = nil, .99
	flat := figure4()
	for i := range flat.Points {
		flat.Points[i].Prob, flat.Points[i].Class = 0, ""
	}
	flat.Plan.Estimate = 0
	for name, picture := range map[string]*Trajectory{"one point": one, "refused": refused, "flat": flat} {
		t.Run(name, func(t *testing.T) {
			drawn(t, picture, "svg")
			drawn(t, picture, "png")
		})
	}
	for name, picture := range map[string]*Trajectory{
		"no points":          {BeginBy: 100, Location: time.UTC},
		"after the deadline": {BeginBy: 100, Location: time.UTC, Points: []api.Point{{BeginTime: 100}}},
	} {
		if err := picture.Write(&bytes.Buffer{}, "svg"); err == nil {
			t.Errorf("%s: drawn", name)
		}
	}
	if err := figure4().Write(&bytes.Buffer{}, "pdf"); err == nil {
		t.Error("drawn as pdf")
	}
}

func TestClockTicks(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	// Saturday 28 March 2026, 12:00 in Berlin; the clocks change that night
	const noon = 1_774_695_600
	for _, c := range []struct {
		name     string
		from, to int64
		want     []string
	}{
		{"minutes", noon + 30, noon + 300, []string{"12:01 Sat 28 Mar", "12:02", "12:03", "12:04", "12:05 deadline"}},
		{"hours", noon, noon + 4*3600, []string{
			"12:00 Sat 28 Mar", "12:30", "13:00", "13:30", "14:00", "14:30", "15:00", "15:30", "16:00 deadline",
		}},
		{"a change of clocks", noon + 9*3600, noon + 20*3600, []string{
			"21:00 Sat 28 Mar", "22:00", "23:00", "00:00 Sun 29 Mar", "01:00", "03:00", "04:00", "05:00", "06:00", "07:00", "08:00", "09:00 deadline",
		}},
		{"days", noon, noon + 14*86400, []string{
			"00:00 Mon 30 Mar", "00:00 Wed 1 Apr", "00:00 Fri 3 Apr", "00:00 Sun 5 Apr", "00:00 Tue 7 Apr", "00:00 Thu 9 Apr", "13:00 deadline",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ticks := clockTicks{c.to, berlin}.Ticks(float64(c.from), float64(c.to))
			var got []string
			for _, tick := range append(ticks[1:], ticks[0]) {
				got = append(got, strings.TrimSpace(strings.ReplaceAll(tick.Label, "\n", " ")))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestPercent(t *testing.T) {
	for prob, want := range map[float64]string{.9: "90 %", .8999: "89.9 %", 1: "100 %", .995: "99.5 %", 0: "0 %", .29: "29 %"} {
		if got := percent(prob); got != want {
			t.Errorf("%v: %s, want %s", prob, got, want)
		}
	}
}
