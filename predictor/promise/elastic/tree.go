package elastic

import "iter"

// Node is a node of the paper's tree (Figure 5), for showing: it stands for the slots that are
// equal by the preferences on the way to it from the root.
type Node struct {
	// Value is that of the preference of its level, as Criterion says; the root has none.
	Value float64
	// Children are in the order of their Value, the preferred one first; a leaf has none.
	Children []*Node
	// Slots are those of a leaf.
	Slots []Slot
}

// Tree returns the tree of the first groups that Rank returns: of the one with the slot number
// most, and those before.
func Tree(ranked iter.Seq[[]*Slot], prefer Preferences, most int) *Node {
	root := &Node{}
	for group := range ranked {
		if most <= 0 {
			break
		}
		most -= len(group)
		at := root
		for _, p := range prefer {
			at = at.child(p.By.of()(group[0]))
		}
		for _, slot := range group {
			at.Slots = append(at.Slots, *slot)
		}
	}
	return root
}

// child returns the last child, which has a value, or a new one.
func (n *Node) child(value float64) *Node {
	if last := len(n.Children) - 1; last >= 0 && n.Children[last].Value == value {
		return n.Children[last]
	}
	n.Children = append(n.Children, &Node{Value: value})
	return n.Children[len(n.Children)-1]
}
