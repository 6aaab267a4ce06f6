package workload

import (
	"strings"
	"testing"
)

func TestSeriesOf(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "solve": "solve", "fold-07_of_12": "fold-#_of_#", "2026-11-29T10:00": "#-#-#T#:#", "1": "#",
		strings.Repeat("a", 100): strings.Repeat("a", seriesLength), strings.Repeat("9", 100): "#",
		strings.Repeat("é", 100): strings.Repeat("é", seriesLength/2),
	} {
		if got := SeriesOf(name); got != want {
			t.Errorf("%.20s: %q, want %q", name, got, want)
		}
	}
}
