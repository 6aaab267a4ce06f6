package scontrol

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/slurm"
)

// Nodes returns the nodes, by name. The error wraps slurm.ErrPermission if the user may not see
// them.
func (c *Command) Nodes(ctx context.Context) ([]slurm.Node, error) {
	out, err := c.runIn(ctx, []string{inSeconds}, "--all", "--oneliner", "show", "node")
	switch {
	case err == nil:
		return parseNodes(out)
	case denied(err):
		return nil, fmt.Errorf("%w: %w", slurm.ErrPermission, err)
	}
	return nil, err
}

func parseNodes(out []byte) ([]slurm.Node, error) {
	var nodes []slurm.Node
	for r := range records(out) {
		if r["NodeName"] == "" {
			continue
		}
		n, err := r.node()
		if err != nil {
			return nil, fmt.Errorf("scontrol show node: node %s: %w", r["NodeName"], err)
		}
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b slurm.Node) int { return strings.Compare(a.Name, b.Name) })
	return nodes, nil
}

// node returns a node. Of its Reason there is only the first word.
func (r record) node() (slurm.Node, error) {
	tres, err := slurm.ParseTRES(r.word("CfgTRES"))
	if err != nil {
		return slurm.Node{}, err
	}
	gres, err := slurm.ParseGres(r.word("Gres"))
	if err != nil {
		return slurm.Node{}, err
	}
	states := states(r["State"])
	cpus := r.number("CPUTot")
	n := slurm.Node{
		Name: r["NodeName"], Address: r["NodeAddr"], Hostname: r["NodeHostName"],
		CPUs: int32(min(max(0, cpus), math.MaxInt32)), Memory: r.number("RealMemory"), Tmp: r.number("TmpDisk"),
		GPUs:     max(slurm.SizeOf(tres).GPUs, int32(min(gres["gpu"], math.MaxInt32))),
		Features: r.names("AvailableFeatures"), Gres: gres, Partitions: r.names("Partitions"),
		Up: !slices.ContainsFunc(states, isDown), Drained: slices.ContainsFunc(states, isDrained), Maintenance: slices.ContainsFunc(states, isMaintained),
		State: strings.Join(states, "+"), Reason: r["Reason"], BootTime: max(0, r.number("BootTime")),
	}
	if cores := r.number("Sockets") * r.number("CoresPerSocket"); cores > 0 {
		n.Threads = int32(max(1, min(cpus/cores, math.MaxInt32)))
	}
	return n, nil
}

// flags are what scontrol appends to the first word of a node's state.
var flags = map[byte]string{
	'*': "NOT_RESPONDING", '~': "POWERED_DOWN", '#': "POWERING_UP", '%': "POWERING_DOWN", '!': "POWER_DOWN", '$': "MAINTENANCE", '@': "REBOOT_REQUESTED", '^': "REBOOT_ISSUED", '-': "PLANNED",
}

// states returns the words of a node's state: of "IDLE*+DRAIN" these are IDLE, NOT_RESPONDING and
// DRAIN.
func states(text string) []string {
	var words []string
	for word := range strings.SplitSeq(strings.ToUpper(text), "+") {
		var more []string
		for len(word) > 0 && flags[word[len(word)-1]] != "" {
			more = append(more, flags[word[len(word)-1]])
			word = word[:len(word)-1]
		}
		words = append(append(words, word), more...)
	}
	return words
}

func isDown(state string) bool {
	switch state {
	case "DOWN", "ERROR", "FAIL", "FAILING", "FUTURE", "DYNAMIC_FUTURE", "UNKNOWN", "INVAL", "INVALID", "INVALID_REG", "NOT_RESPONDING":
		return true
	}
	return false
}

func isDrained(state string) bool {
	switch state {
	case "DRAIN", "DRAINED", "DRAINING", "REBOOT", "REBOOT_REQUESTED", "REBOOT_ISSUED", "POWER_DRAIN", "BLOCKED":
		return true
	}
	return false
}

func isMaintained(state string) bool { return state == "MAINT" || state == "MAINTENANCE" }
