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

// The ticket of a member of a group has one more field.
func TestOfAMember(t *testing.T) {
	plan := api.Plan{ID: "abcdefgh2345", BeginBy: 1795218000, WorkLimit: 3600, Group: "bbbbbbbbbbbb"}
	const want = "0:1795218000:3600:abcdefgh2345:bbbbbbbbbbbb"
	if got := Of(&plan).String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, err := Parse(want); err != nil || got != Of(&plan) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The ticket of a job without a promise holds nothing.
func TestSized(t *testing.T) {
	text := Sized(3600)
	if got, err := Parse(text); text != "-::3600" || err != nil || got != (Ticket{}) {
		t.Errorf("%s is %+v, %v", text, got, err)
	}
}

// The ticket of a job whose size may change has the time limit of each size, ordered by nodes.
func TestSizedByNodes(t *testing.T) {
	text := SizedByNodes(2, map[int32]int64{16: 2700, 4: 7200, 8: 4200})
	if got, err := Parse(text); text != "-:2:4=7200,8=4200,16=2700" || err != nil || got != (Ticket{}) {
		t.Errorf("%s is %+v, %v", text, got, err)
	}
	limits := map[int32]int64{}
	for n := range int32(api.MaxProbeSizes) {
		limits[1_000_000+n] = 31_536_000
	}
	if text := SizedByNodes(1<<20, limits); len(text) > 2047 { // TICKET_SIZE of the SPANK plugin
		t.Errorf("it has %d bytes", len(text))
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", "a:b", "1:2:3", "1:2:3::4", "1:2:3:abcdefgh2345:", "1:2:3::abcdefgh2345", "1:2:3:abcdefgh2345:UPPER", "1:2:3:abcdefgh2345:abcdefgh2345:", "-1:2:3:", "x:2:3:", "1:2:+3:", "1:2:9223372036854775807:", "1:2:3:UPPER", "-::", "-::x", "-:1:2", "-:x:1=2", "-:1:1=2,", "-:1:=2", "-::1=2",
	} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("1795217746:1795218000:3600:abcdefgh2345")
	f.Add("0:1795218000:3600:abcdefgh2345:bbbbbbbbbbbb")
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
