package slurm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// ParseGres reads a node's generic resources, such as "gpu:a100:4(S:0-1),shard:8". It counts
// them by name ("gpu"), and those with a type by type too ("gpu:a100"). The result of an empty
// list is nil.
func ParseGres(list string) (map[string]int64, error) {
	if list == "" || list == "(null)" {
		return nil, nil
	}
	counts := map[string]int64{}
	for _, item := range splitGres(list) {
		item, _, _ = strings.Cut(item, "(")
		words := strings.Split(item, ":")
		name, count := words[0], int64(1)
		if name == "" {
			return nil, fmt.Errorf("generic resource %q: no name", item)
		}
		if last := len(words) - 1; last > 0 {
			if n, _, err := parseCount(words[last], false); err == nil && n <= maxGres {
				count, words = n, words[:last]
			} // else it is a type, as in gpu:1g.5gb
		}
		counts[name] += count
		if kind := strings.Join(words[1:], ":"); kind != "" && kind != "no_consume" {
			counts[name+":"+strings.TrimSuffix(kind, ":no_consume")] += count
		}
	}
	return counts, nil
}

// maxGres is the greatest count of a generic resource that is read.
const maxGres = 1 << 40

// splitGres cuts a list at its commas outside of parentheses.
func splitGres(list string) []string {
	depth := 0
	return strings.FieldsFunc(list, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return c == ',' && depth == 0
	})
}

// AskedGres returns the generic resources in a list of what a job asks for, of each node or in all:
// "gres/gpu:a100:2", as tres_per_node has it, whose form depends on Slurm's version ("gres:gpu:2",
// "gpu=2"). Other trackable resources are left out, and so is an item that cannot be read.
func AskedGres(list string, perNode bool) []workload.Gres {
	var all []workload.Gres
	for item := range strings.SplitSeq(list, ",") {
		asked, named := strings.CutPrefix(item, "gres")
		words := strings.Split(strings.TrimLeft(strings.ReplaceAll(asked, "=", ":"), ":/"), ":")
		if !named && strings.Contains(item, "=") || words[0] == "" {
			continue // "cpu=4"
		}
		g := workload.Gres{Name: words[0], Count: 1, PerNode: perNode, Option: "--gres=" + strings.Join(words, ":")}
		if last := len(words) - 1; last > 0 {
			if n, _, err := parseCount(words[last], false); err == nil && n <= maxGres {
				g.Count, words = n, words[:last]
			}
		}
		g.Type = strings.Join(words[1:], ":")
		if g.Count > 0 {
			all = append(all, g)
		}
	}
	return all
}

// GresOf returns the generic resources among the trackable resources that a job asks for in all. Of
// one of which Slurm counts the types, it returns these.
func GresOf(tres limits.TRES) []workload.Gres {
	var all []workload.Gres
	for _, name := range slices.Sorted(maps.Keys(tres)) {
		kind, is := strings.CutPrefix(name, "gres/")
		if !is || tres[name] <= 0 {
			continue
		}
		g := workload.Gres{Count: tres[name], Option: "--gres=" + kind}
		g.Name, g.Type, _ = strings.Cut(kind, ":")
		if n := len(all); n > 0 && g.Type != "" && all[n-1].Name == g.Name && all[n-1].Type == "" {
			all = all[:n-1] // the sum of this type and of others
		}
		all = append(all, g)
	}
	return all
}

// LicensesOf returns the licences in what a job asks for, as of sbatch --licenses, where accounting
// counts them.
func LicensesOf(tres limits.TRES) string {
	numbers := map[string]int64{}
	for name, n := range tres {
		if name, is := strings.CutPrefix(name, "license/"); is && n > 0 {
			numbers[name] = n
		}
	}
	return string(workload.LicencesOf(numbers))
}
