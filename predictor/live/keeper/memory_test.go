package keeper

import "testing"

// What failed for a plan that is closed is not tried again at each look either. Afterwards the plan
// is forgotten; and that somebody names a plan is nothing to remember.
func TestMemoryOfClosedPlans(t *testing.T) {
	m := newMemory()
	m.postpone("closed", 100)
	m.retain(nil, 101)
	if !m.postponed("closed", 101) || m.postponed("closed", 100+retryAfter) || m.postponed("unknown", 101) {
		t.Error("a failed call is repeated at once, or never")
	}
	if m.retain(nil, 100+retryAfter); len(m.plans) != 0 {
		t.Errorf("%d plans are remembered", len(m.plans))
	}
}
