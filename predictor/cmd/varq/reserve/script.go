package reserve

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// scriptOf returns the text of the script of a command, whose last words it is with its arguments;
// nothing for one without.
func scriptOf(command []string, words int) []byte {
	if words == 0 || words > len(command) {
		return nil
	}
	name := command[len(command)-words]
	if file, err := os.Stat(name); err != nil || !file.Mode().IsRegular() {
		return nil
	}
	text, _ := os.ReadFile(name) // sbatch has read it
	return text
}

var hetjob = regexp.MustCompile(`(?m)^#SBATCH\s+(hetjob|packjob)\b`)

// heterogeneous reports whether a command submits several components, of which the last words are
// those of the first: the script and its arguments.
func heterogeneous(command []string, words int, script []byte) bool {
	first := max(0, len(command)-words)
	return slices.Contains(command[:min(first+1, len(command))], ":") || hetjob.Match(script)
}

// given are options of varq's, by name, as they are written in a script or on a command line.
type given map[string]string

// add notes the options among some words.
func (g given) add(words []string) {
	for _, word := range words {
		text, long := strings.CutPrefix(word, "--")
		if name, _, _ := strings.Cut(text, "="); long && slices.ContainsFunc(replaced, func(r replacement) bool { return r.option == name }) {
			g[name] = word
		}
	}
}

// inScript returns the options in a script's lines for sbatch, which end with its first command.
func inScript(script []byte) given {
	g := given{}
	for line := range strings.Lines(string(script)) {
		options, is := strings.CutPrefix(line, "#SBATCH")
		switch line = strings.TrimSpace(line); {
		case is:
			options, _, _ = strings.Cut(options, " #")
			g.add(strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(options)))
		case line != "" && line[0] != '#':
			return g
		}
	}
	return g
}

// replacement is an option of sbatch's in whose place reserve has options of its own.
type replacement struct {
	option, by string
	asked      func(f *flags) bool // reserve was given one
}

var replaced = []replacement{
	{"begin-by", "--latest or --finish-by", func(*flags) bool { return true }},
	{"prob", "--min-prob", func(f *flags) bool { return f.MinProb != "" }},
	{"sizes", "--sizes", func(f *flags) bool { return f.Sizes+f.Nodes != "" }},
	{"size-by", "--prefer", func(*flags) bool { return true }},
	{"best-effort", "--best-effort", (*flags).bestEffort},
}

// bestEffort reports whether the work may start as soon as the job does.
func (f *flags) bestEffort() bool { return f.BestEffort || f.AnyOf }

// giveWay says which options of the command and its script reserve's own stand for. On the command
// line there may be none, and none in the script for which reserve was given nothing.
func (f *flags) giveWay(words int, script []byte) (notes []string, err error) {
	line, lines := given{}, inScript(script)
	line.add(f.Command[:max(0, len(f.Command)-words)])
	var gone, by []string
	for _, r := range replaced {
		text, has := lines[r.option]
		switch _, twice := line[r.option]; {
		case twice:
			return nil, fmt.Errorf("--%s does not go together with varq reserve: give %s instead, before --", r.option, r.by)
		case has && !r.asked(f):
			return nil, fmt.Errorf("the script has %.60q: give varq reserve %s, before --", text, r.by)
		case has && r.option != "best-effort":
			gone, by = append(gone, text), append(by, r.by)
		}
	}
	if len(gone) > 0 {
		notes = append(notes, fmt.Sprintf("instead of %.200s of the script: %s of varq reserve", strings.Join(gone, " and "), strings.Join(by, " and ")))
	}
	return notes, nil
}
