package forest

import "sync"

// Background runs a task: at once or later, maybe concurrently. It may also drop the task.
// What the task was to find is found without it when it is needed.
type Background func(task func())

// nursery is where trees grow in the background, again and again as more cases are pushed.
//
// Invariant: trees come into use when the next ones begin to grow, after the same case however long
// they took to grow.
type nursery struct {
	background Background
	due        uint64   // the number of cases pushed at which the next trees are grown
	slowdown   int      // trees are grown this many times less often than usual
	growing    *growing // or nil
}

// growing is trees that are being grown.
type growing struct {
	pushed uint64 // the number of cases pushed when growth began
	finish func() // grows the trees, or waits for them to grow
	use    func() // puts them into their ensembles
}

// newNursery returns a nursery in which nothing grows. With a nil Background, trees grow at once.
func newNursery(b Background) nursery {
	if b == nil {
		b = func(task func()) { task() }
	}
	return nursery{background: b, due: warmUp, slowdown: 1}
}

// slowDown makes trees grow less often, by a factor; 1 or less is the usual pace.
func (n *nursery) slowDown(factor int) { n.slowdown = max(1, factor) }

// protect waits for trees to grow before the cases that they grow from are overwritten, as so many
// have been pushed.
func (n *nursery) protect(pushed uint64) {
	if g := n.growing; g != nil && pushed-g.pushed >= reserve {
		g.finish()
	}
}

// renew reports whether trees are to begin to grow, as so many cases have been pushed. Those that
// have grown come into use then. There are period cases from one growth to the next at the usual
// pace.
func (n *nursery) renew(pushed uint64, period int) bool {
	if pushed < n.due {
		return false
	}
	n.install()
	// The first trees, which know little, are soon replaced.
	n.due = pushed + min(uint64(period*n.slowdown), pushed/20)
	return true
}

// begin begins to grow trees when so many cases have been pushed. Use is called once they have
// grown and the next ones are due.
func (n *nursery) begin(pushed uint64, grow, use func()) {
	n.growing = &growing{pushed: pushed, finish: sync.OnceFunc(grow), use: use}
	n.background(n.growing.finish)
}

// install puts the trees that have grown, if any, into use. It waits for them if they are not
// ready.
func (n *nursery) install() {
	if g := n.growing; g != nil {
		g.finish()
		g.use()
		n.growing = nil
	}
}
