package cli

import (
	"fmt"
	"strings"
)

// Names returns the name of each element of all.
func Names[T any](all []T, name func(T) string) []string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = name(v)
	}
	return names
}

// Choose returns the element of all whose name is text. flag is the option for error messages.
func Choose[T any](flag, text string, all []T, name func(T) string) (T, error) {
	for _, v := range all {
		if name(v) == text {
			return v, nil
		}
	}
	var zero T
	return zero, fmt.Errorf("--%s: %q is none of %s", flag, text, strings.Join(Names(all, name), ", "))
}
