package influence

import (
	"fmt"
	"testing"
)

// TestInfluence: the outcomes of one user in a row weigh no more than a few, and of many users
// each outcome weighs 1.
func TestInfluence(t *testing.T) {
	i := New()
	sum := 0.
	for range 1000 {
		sum += i.Weigh("mallory")
	}
	if sum < 7 || sum > 9 {
		t.Errorf("1,000 outcomes weigh %.1f", sum)
	}
	for n := range 3 * mostShares {
		if w := i.Weigh(fmt.Sprint("user", n)); w != 1 {
			t.Fatalf("the first outcome of a user weighs %v", w)
		}
	}
	if len(i.users) > mostShares {
		t.Errorf("%d users are remembered", len(i.users))
	}
	if w := i.Weigh("mallory"); w < .99 {
		t.Errorf("long after, an outcome weighs %v", w)
	}
	if a, b := i.Weigh(""), i.Weigh(""); a != 1 || b != 1 {
		t.Errorf("outcomes of nobody knows whom weigh %v and %v", a, b)
	}
}
