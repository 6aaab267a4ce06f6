package elastic

import (
	"fmt"
	"strings"
)

// Refused are sizes that the cluster does not allow, all for the same reason.
type Refused struct {
	Nodes []int32
	Why   string
}

// Refuse adds the size of so many nodes to a list, beside those of the same reason.
func Refuse(list []Refused, nodes int32, why string) []Refused {
	for i := range list {
		if list[i].Why == why {
			list[i].Nodes = append(list[i].Nodes, nodes)
			return list
		}
	}
	return append(list, Refused{[]int32{nodes}, why})
}

// String says it for people, without a full stop: "16, 32 or 64 nodes: partition main has 8 nodes".
func (r Refused) String() string {
	var numbers []string
	for _, n := range r.Nodes {
		numbers = append(numbers, fmt.Sprint(n))
	}
	last := len(numbers) - 1
	which, unit := numbers[last], "nodes"
	switch {
	case last > 0:
		which = strings.Join(numbers[:last], ", ") + " or " + which
	case which == "1":
		unit = "node"
	}
	return fmt.Sprintf("%s %s: %s", which, unit, strings.TrimSuffix(r.Why, "."))
}
