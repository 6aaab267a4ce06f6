package doctor

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/varq-project/varq/predictor/slurm/scontrol"
	"github.com/varq-project/varq/predictor/varqd/munge"
)

// Host examines what this host needs so that its users can ask for reservations: munge, and
// varq's parts in Slurm's commands.
func Host(ctx context.Context, mungeSocket string) []Finding {
	findings := []Finding{mungeWorks(ctx, munge.Munge{Socket: mungeSocket})}
	var command scontrol.Command
	slurm, err := command.Config(ctx)
	if err != nil {
		return append(findings, failure("scontrol", err, "install Slurm's commands here, and let them reach slurmctld"))
	}
	findings = append(findings, plugStack(slurm), cliFilter(slurm))
	return append(findings, settings(slurm)...)
}

// mungeWorks makes a credential and checks it.
func mungeWorks(ctx context.Context, m munge.Munge) Finding {
	const of, remedy = "munge", "systemctl status munge; server.munge_socket and client.munge_socket name another socket"
	credential, err := m.Encode(ctx, []byte("varq"))
	if err != nil {
		return failure(of, err, remedy)
	}
	if maker, _, err := m.Decode(ctx, credential); err != nil || maker.UID != uint32(os.Geteuid()) {
		return failure(of, fmt.Sprintf("a credential of this user is one of %d: %v", maker.UID, err), remedy)
	}
	return ok(of, "munged makes and checks credentials")
}

const spankPlugin = "spank_varq.so"

// plugStack looks for varq's plugin in plugstack.conf.
func plugStack(c scontrol.Config) Finding {
	const of = "plugstack"
	line, err := findPlugin(c.PlugStack, 0)
	if err != nil {
		return failure(of, err, "varq's options need plugstack.conf: man 8 spank")
	}
	if line == nil {
		return failure(of, c.PlugStack+" does not load "+spankPlugin,
			"put this line into it: include plugstack.conf.d/*.conf, or: optional "+spankPlugin+" wrapper=/usr/bin/varq-wrapper")
	}
	plugin := line[1]
	if !filepath.IsAbs(plugin) {
		var found bool
		for _, dir := range filepath.SplitList(c.PluginDir) {
			if path := filepath.Join(dir, plugin); !found && exists(path) {
				plugin, found = path, true
			}
		}
	}
	if !exists(plugin) {
		return failure(of, plugin+" does not exist", "install varq-slurm on this host")
	}
	for _, needed := range [...]struct{ option, program string }{{"wrapper=", "/usr/bin/varq-wrapper"}, {"filter=", "/usr/bin/varq-filter"}} {
		option, program := needed.option, needed.program
		for _, word := range line[2:] {
			if named, is := strings.CutPrefix(word, option); is {
				program = named
			}
		}
		if err := unix.Access(program, unix.X_OK); err != nil {
			return failure(of, fmt.Sprintf("%s cannot be executed: %v", program, err), "install varq on this host, or mend "+option+" in plugstack.conf")
		}
	}
	return ok(of, "%s", plugin)
}

// mostIncludes bounds how deep files of plugstack.conf include one another.
const mostIncludes = 8

// findPlugin returns the words of the line that loads varq's plugin, in a file or in those that
// it includes, or nil.
func findPlugin(path string, depth int) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		switch {
		case len(words) < 2:
		case words[0] == "include" && depth < mostIncludes:
			pattern := words[1]
			if !filepath.IsAbs(pattern) {
				pattern = filepath.Join(filepath.Dir(path), pattern)
			}
			included, _ := filepath.Glob(pattern) // a bad pattern includes nothing
			for _, file := range included {
				if line, err := findPlugin(file, depth+1); err != nil || line != nil {
					return line, err
				}
			}
		case filepath.Base(words[1]) == spankPlugin:
			return words, nil
		}
	}
	return nil, lines.Err()
}

// loaded finds the files that a cli_filter.lua loads.
var loaded = regexp.MustCompile(`dofile\s*[(,]\s*["']([^"']+)["']`)

// cliFilter looks for varq in cli_filter.lua.
func cliFilter(c scontrol.Config) Finding {
	const of = "cli_filter"
	script := filepath.Join(filepath.Dir(c.File), "cli_filter.lua")
	const remedy = "copy /usr/share/varq/cli_filter.lua there, or call varq.lua from the one that is there"
	if !slices.Contains(c.CLIFilters, "lua") {
		return failure(of, "slurm.conf has no CliFilterPlugins=lua", "add that line, and "+script)
	}
	text, err := os.ReadFile(script)
	if err != nil {
		return failure(of, err, remedy)
	}
	if !strings.Contains(string(text), "varq") {
		return failure(of, script+" does not call varq", remedy)
	}
	for _, file := range loaded.FindAllStringSubmatch(string(text), -1) {
		if !exists(file[1]) {
			return failure(of, fmt.Sprintf("%s loads %s, which does not exist", script, file[1]), "install varq-slurm on this host")
		}
	}
	return ok(of, "%s", script)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
