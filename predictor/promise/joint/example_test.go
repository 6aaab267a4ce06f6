package joint_test

import (
	"fmt"

	"github.com/varq-project/varq/predictor/promise/joint"
)

// A job may start at either of two clusters. A second job must start together with it at a third.
func Example() {
	a, b, c := joint.Member{Site: "a/batch", Prob: .9}, joint.Member{Site: "b/batch", Prob: .9}, joint.Member{Site: "c/gpu", Prob: .8}
	together := func(string, string) float64 { return .5 }
	for _, g := range []joint.Group{joint.AnyOf(a, b), joint.AllOf(a, b), {{a, b}, {c}}} {
		low, high := g.Bounds()
		fmt.Printf("%.3f if independent, %.3f with correlations of .5, from %.2f to %.2f in any case\n", g.Independent(), g.Prob(together), low, high)
	}
	// Output:
	// 0.990 if independent, 0.968 with correlations of .5, from 0.90 to 1.00 in any case
	// 0.810 if independent, 0.832 with correlations of .5, from 0.80 to 0.90 in any case
	// 0.792 if independent, 0.790 with correlations of .5, from 0.70 to 0.80 in any case
}

// ExampleModel shows how a daemon uses a Model: the Model learns from starts and from the outcomes
// of its quotes, and the daemon saves what it has learnt.
func ExampleModel() {
	var m joint.Model
	now := int64(1_700_000_000)
	// a job at each site, every two hours: both sites are slow, or neither is
	for i := range int64(40) {
		rank := []float64{.1, .8, .3, .95}[i%4]
		m.Learn("a", now, now, rank)
		m.Learn("b", now, now, rank)
		now += 7200
	}
	now += 2 * 86_400
	g := joint.AnyOf(joint.Member{Site: "a", Prob: .9}, joint.Member{Site: "b", Prob: .8})
	q := m.Quote(g, now)
	fmt.Printf("correlation %.2f, shrunk from %.2f\n", q.Strongest.Correlation, q.Strongest.Measured)
	fmt.Printf("any starts with %.3f, of which %.3f may be promised\n", q.Joint, q.Lower)
	m.Came(g.Kind(), q.Joint, true, now+3600)
	fmt.Printf("and once that has come true, %.3f\n", m.Quote(g, now+3600).Lower)
	var restarted joint.Model
	fmt.Println(restarted.Restore(m.State()))
	// Output:
	// correlation 0.61, shrunk from 0.99
	// any starts with 0.940, of which 0.794 may be promised
	// and once that has come true, 0.805
	// <nil>
}
