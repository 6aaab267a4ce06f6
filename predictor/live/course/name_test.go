package course

import (
	"strings"
	"testing"
)

func TestShownName(t *testing.T) {
	for name, want := range map[string]string{
		"":                                 "",
		"train net-7":                      "train net-7",
		"größe":                            "größe",
		"\x1b[2Jgone\n":                    "?[2Jgone?",
		"\xff":                             "\uFFFD",
		strings.Repeat("a", maxName+1):     strings.Repeat("a", maxName),
		"a" + strings.Repeat("ä", maxName): "a" + strings.Repeat("ä", maxName/2-1),
	} {
		if got := ShownName(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}
