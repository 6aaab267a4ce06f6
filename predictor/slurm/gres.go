package slurm

import (
	"fmt"
	"strings"
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
