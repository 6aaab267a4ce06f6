package quote

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// TestChosen: what is to be pasted names the account that is to pay once.
func TestChosen(t *testing.T) {
	for _, v := range []struct{ given, account, want string }{
		{"--account=a,b -n1", "", "--accounts=a,b -n1"},
		{"--account=a,b -n1", "b", "--account=b -n1"},
		{"--accounts=a,b -n1", "", "--accounts=a,b -n1"},
		{"--account=c --accounts=a,b -n1", "b", "--account=b -n1"},
		{"--account=c --accounts=a,b", "", "--accounts=a,b"},
	} {
		if got := strings.Join(chosen(strings.Fields(v.given), &api.PlanAnswer{Account: v.account}), " "); got != v.want {
			t.Errorf("%s: %s, wanted %s", v.given, got, v.want)
		}
	}
}
