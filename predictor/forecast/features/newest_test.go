package features

import "testing"

// TestNewest: values set recently are known, and values set long ago are not.
func TestNewest(t *testing.T) {
	var n newest[int, int]
	const many = 5 * generation
	for i := range many {
		n.set(i, 2*i)
		n.set(-1, i)
		if len(n.young)+len(n.old) > 2*generation {
			t.Fatalf("%d and %d are known", len(n.young), len(n.old))
		}
		for _, k := range [...]int{i, max(0, i-generation/2)} {
			if v, ok := n.get(k); !ok || v != 2*k {
				t.Fatalf("%d: %v, %v", k, v, ok)
			}
		}
		if v, _ := n.get(-1); v != i {
			t.Fatalf("what is set again and again is %d, want %d", v, i)
		}
	}
	if _, ok := n.get(many - 2*generation); ok {
		t.Error("nothing is forgotten")
	}
	snapshot := n.snapshot()
	n.set(many-1, 0)
	for i := range generation {
		n.set(-i, 0)
	}
	if v, _ := snapshot.get(many - 1); v != 2*(many-1) {
		t.Errorf("a value in the snapshot became %d", v)
	}
}
