package config

import (
	"fmt"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// step is one step of a key such as policy[1].max_prob: a name, or a place in a list.
var step = regexp.MustCompile(`[^.\[\]]+`)

// where returns the place of a key in a file of this name, as name:line, by the text of the file.
// It is the line of the nearest key above where the key itself is not there, and name alone where
// there is none.
func where(name string, data []byte, key string) string {
	var root yaml.Node
	if yaml.Unmarshal(data, &root) != nil || len(root.Content) == 0 {
		return name
	}
	at, line := root.Content[0], 0
	for _, step := range step.FindAllString(key, -1) {
		if at.Alias != nil {
			at = at.Alias
		}
		found := false
		switch at.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(at.Content) && !found; i += 2 {
				if at.Content[i].Value == step {
					at, line, found = at.Content[i+1], at.Content[i].Line, true
				}
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(at.Content) {
				at, line, found = at.Content[i], at.Content[i].Line, true
			}
		}
		if !found {
			break
		}
	}
	if line == 0 {
		return name
	}
	return fmt.Sprintf("%s:%d", name, line)
}
