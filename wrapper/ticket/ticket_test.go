package ticket

import (
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

func TestOf(t *testing.T) {
	plan := api.Plan{ID: "abcdefgh2345", HoldUntil: 1795217746, BeginBy: 1795218000, WorkLimit: 3600, OnMiss: "cancel"}
	const want = "1795217746:1795218000:3600:abcdefgh2345"
	if got := Of(&plan).String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, err := Parse(want); err != nil || got != Of(&plan) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", "a:b", "1:2:3", "1:2:3::4", "-1:2:3:", "x:2:3:", "1:2:+3:", "1:2:9223372036854775807:", "1:2:3:UPPER",
	} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("1795217746:1795218000:3600:abcdefgh2345")
	f.Add("0:0:0:")
	f.Fuzz(func(t *testing.T, text string) {
		ticket, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(ticket.String()); err != nil || again != ticket {
			t.Errorf("%q is %+v, then %+v, %v", text, ticket, again, err)
		}
	})
}
