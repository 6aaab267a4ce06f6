package elastic

import (
	"fmt"
	"testing"
)

func TestRefuse(t *testing.T) {
	var list []Refused
	for _, size := range []struct {
		nodes int32
		why   string
	}{{1, "too slow"}, {16, "few nodes."}, {2, "too slow"}, {32, "few nodes."}, {64, "few nodes."}, {128, "never"}} {
		list = Refuse(list, size.nodes, size.why)
	}
	list = append(list, Refuse(nil, 1, "down")...)
	if got, want := fmt.Sprint(list), "[1 or 2 nodes: too slow 16, 32 or 64 nodes: few nodes 128 nodes: never 1 node: down]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
