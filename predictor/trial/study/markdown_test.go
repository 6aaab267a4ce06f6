package study

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/test/golden"
)

// madeUp is a report with every kind of row.
func madeUp() Report {
	return Report{
		Name:  "toy",
		Title: "Toys in Queues (1999)",
		Tables: []Table{
			{"Waits", []Row{
				{Name: "mean wait", Unit: "min", Paper: Paper(211), Ours: Interval{198.4, 180.2, 216.61, 5}},
				{Name: "with fewer toys", Unit: "%", Paper: Paper(-7), Ours: Interval{-12.3, -14, -10.6, 5}, Note: "one log | not two"},
			}},
			{"Beyond the paper", []Row{
				{Name: "one seed", Ours: Interval{.31415, .31415, .31415, 1}},
				{Name: "nothing measured", Unit: "s", Paper: Paper(10)},
			}},
		},
		Differences: []string{"There are no toys."},
		Figures:     []Figure{{Name: "waits", Title: "Waits by toy", X: "toys", Y: "min"}},
	}
}

func TestMarkdown(t *testing.T) {
	got := madeUp().Markdown()
	file := filepath.Join("testdata", "report.md")
	want := golden.Want(t, file, []byte(got))
	if got != string(want) {
		t.Errorf("the report is not %s; if it should be, run the test with -update and read it:\n%s", file, got)
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		row                   Row
		paper, ours, interval string
	}{
		{Row{Paper: Paper(.54), Ours: Interval{.612, .5, .7, 3}}, "0.54", "0.61", "0.50 to 0.70"},
		{Row{Paper: Paper(9.99), Ours: Interval{Mean: 10.01, N: 1}}, "10.0", "10.0", "-"},
		{Row{Paper: Paper(4795), Ours: Interval{12345.6, 12000, 12600, 3}}, "4795", "12346", "12000 to 12600"},
		{Row{}, "-", "-", "-"},
	} {
		if paper, ours, interval := test.row.Numbers(); paper != test.paper || ours != test.ours || interval != test.interval {
			t.Errorf("%+v: %s | %s | %s", test.row, paper, ours, interval)
		}
	}
}

func ExampleRow_Numbers() {
	row := Row{Name: "offset", Unit: "min", Paper: Paper(211), Ours: intervalOf([]float64{190, 200, 222})}
	fmt.Println(row.Label())
	fmt.Println(row.Numbers())
	// Output:
	// offset, min
	// 211 204 163 to 245
}
