package cli

import (
	"os/exec"
	"testing"
)

// Words are those of a shell.
func TestWords(t *testing.T) {
	for _, line := range []string{
		"", "  -N1\t-t 30  job.sh ", `--wrap='echo "a  b"' x`, `"it's" 'a'"b"c\ d ''`, `"a\"b\c\\\$x" \'`, "job.sh a#b # it's over", `""`, "größe 'ß ü'",
	} {
		want, err := exec.CommandContext(t.Context(), "sh", "-c", `for word in `+line+`
do printf '<%s>' "$word"; done`).Output()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Words(line)
		text := ""
		for _, word := range got {
			text += "<" + word + ">"
		}
		if err != nil || text != string(want) {
			t.Errorf("%s: %q, %v, and a shell reads %s", line, got, err, want)
		}
	}
	for line, want := range map[string]string{`-t 30 "job.sh`: `a quote (") is not closed`, `it's`: "a quote (') is not closed"} {
		if words, err := Words(line); err == nil || err.Error() != want {
			t.Errorf("%s: %q, %v", line, words, err)
		}
	}
}
