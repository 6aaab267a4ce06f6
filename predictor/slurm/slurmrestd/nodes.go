package slurmrestd

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/hostlist"
	"github.com/varq-project/varq/predictor/slurm"
)

// node is a node of slurmctld.
type node struct {
	Name       string `json:"name"`
	Address    string `json:"address"`
	Hostname   string `json:"hostname"`
	State      words  `json:"state"`
	StateFlags words  `json:"state_flags"` // v0.0.38
	CPUs       number `json:"cpus"`
	Sockets    number `json:"sockets"`
	Cores      number `json:"cores"`          // of a socket
	Tmp        number `json:"temporary_disk"` // MiB
	Memory     number `json:"real_memory"`    // MiB
	TRES       string `json:"tres"`
	Features   words  `json:"features"`
	Gres       string `json:"gres"`
	Partitions words  `json:"partitions"`
	Reason     string `json:"reason"`

	ReasonBy    text   `json:"reason_set_by_user"`
	ReasonAt    number `json:"reason_changed_at"`
	ResumeAfter number `json:"resume_after"` // Unix seconds; not in v0.0.38
	BootTime    number `json:"boot_time"`
}

func (n *node) required() []presence {
	return []presence{{"name", n.Name != ""}, {"state", len(n.State) > 0}, {"cpus", n.CPUs.present}}
}

// threads returns the CPUs of a core: 1 if a CPU is a core, however many threads it has; or 0.
func (n *node) threads() int32 {
	cores := n.Sockets.count() * n.Cores.count()
	if cores == 0 {
		return 0
	}
	return max(1, n.CPUs.count()/cores)
}

// Nodes returns every node, by name.
func (c *Client) Nodes(ctx context.Context) ([]slurm.Node, error) {
	var nodes []slurm.Node
	err := c.do(ctx, request{method: http.MethodGet, family: controller, path: "/nodes"}, fields{
		"nodes": each(func(n *node) error {
			tres, err := slurm.ParseTRES(n.TRES)
			if err != nil {
				return err
			}
			gres, err := slurm.ParseGres(n.Gres)
			if err != nil {
				return fmt.Errorf("node %s: %w", n.Name, err)
			}
			states := slices.Concat(n.State, n.StateFlags)
			for i := range states {
				states[i] = strings.ToUpper(states[i])
			}
			// Accounting may not count them.
			gpus := max(slurm.SizeOf(tres).GPUs, int32(min(gres["gpu"], math.MaxInt32)))
			nodes = append(nodes, slurm.Node{
				Name:        n.Name,
				Address:     n.Address,
				Hostname:    n.Hostname,
				CPUs:        n.CPUs.count(),
				Threads:     n.threads(),
				Memory:      n.Memory.or(0),
				Tmp:         n.Tmp.or(0),
				GPUs:        gpus,
				Features:    n.Features,
				Gres:        gres,
				Partitions:  n.Partitions,
				Up:          !containsAny(states, downStates),
				Drained:     containsAny(states, drainStates),
				Maintenance: slices.Contains(states, "MAINTENANCE"),
				State:       strings.Join(states, "+"),
				Reason:      n.Reason,
				ReasonBy:    string(n.ReasonBy),
				ReasonAt:    max(0, n.ReasonAt.or(0)),
				ResumeAfter: max(0, n.ResumeAfter.or(0)),
				BootTime:    max(0, n.BootTime.or(0)),
			})
			return nil
		}),
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(nodes, func(a, b slurm.Node) int { return strings.Compare(a.Name, b.Name) })
	return nodes, nil
}

// Slurm's node states and flags: with downStates a node cannot run jobs, and with
// drainStates it takes no new jobs. A node that is powered down to save energy is up.
var (
	downStates  = []string{"DOWN", "ERROR", "FAIL", "FUTURE", "DYNAMIC_FUTURE", "UNKNOWN", "INVALID", "INVALID_REG", "NOT_RESPONDING"}
	drainStates = []string{"DRAIN", "REBOOT_REQUESTED", "REBOOT_ISSUED", "POWER_DRAIN", "BLOCKED"}
)

func containsAny(list, wanted []string) bool {
	return slices.ContainsFunc(wanted, func(word string) bool { return slices.Contains(list, word) })
}

// nodeNames returns the names in a job's list of nodes. Of a list that cannot be read, such as
// "None assigned", nothing is known.
func nodeNames(list string) []string {
	names, err := hostlist.Expand(list)
	if err != nil || slices.Contains(names, "None assigned") {
		return nil
	}
	return names
}
