// Package filter is the part of varq's cli_filter that is written in Go. It converts the
// options of an sbatch, srun or salloc into a request to varqd, and varqd's answer into
// lines. The other part, varq.lua, runs inside Slurm's command. It changes or refuses the
// submission as the lines say.
package filter

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/slurm/jobsize"
)

// MaxOptions is the largest size, in bytes, of the options of one command.
const MaxOptions = 4 << 20

// options are the options given to a command, by their long names without dashes.
type options map[string]string

// parseOptions reads the JSON of Slurm's json_cli_options. The command's own
// arguments are dropped.
func parseOptions(text []byte) (options, error) {
	if len(text) > MaxOptions {
		return nil, fmt.Errorf("the options are longer than %d bytes", MaxOptions)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("the options are not JSON: %w", err)
	}
	delete(raw, "argv")
	given := make(options, len(raw))
	for name, value := range raw {
		if other, found := spellings[name]; found {
			name = other
		}
		var s string
		if json.Unmarshal(value, &s) != nil {
			s = string(value) // no Slurm so far writes anything but strings
		}
		// Slurm 22.05 writes --gres=gpu:1 as gres:gpu:1, and 24.11 as gres/gpu:1
		if name == "gres" {
			s = strings.NewReplacer(",gres:", ",", ",gres/", ",").Replace("," + s)[1:]
		}
		given[name] = s
	}
	return given, nil
}

// spellings has the options that json_cli_options tells by another name than that which they share
// with another option.
var spellings = map[string]string{"cluster": "clusters"}

// arguments returns how many words of the command are not options: the script and its arguments.
func arguments(text []byte) int {
	var of struct {
		Argv []string `json:"argv"`
	}
	_ = json.Unmarshal(text, &of) // parseOptions has read it
	return len(of.Argv)
}

func (o options) has(name string) bool { _, ok := o[name]; return ok }

// ownPrefix begins the names that Slurm has for options of SPANK plugins, such as varq's.
const ownPrefix = "spank:"

// own returns the value of one of varq's own options.
func (o options) own(name string) (value string, given bool) {
	value, given = o[ownPrefix+name]
	return value, given
}

// read reads the value of one of varq's own options, if it is given.
func read[T any](o options, name string, parse func(text string) (T, error), into *T) error {
	text, given := o.own(name)
	if !given {
		return nil
	}
	if text == "" {
		return fmt.Errorf("--%s needs a value: is a variable of your shell empty?", name)
	}
	value, err := parse(text)
	if err != nil {
		return fmt.Errorf("--%s: %w", name, err)
	}
	*into = value
	return nil
}

// word is the value of an option that says what it means.
func word(text string) (string, error) { return text, nil }

// number returns the value of an option that is a number, or 0 if it is not given.
func (o options) number(name string) (int32, error) {
	text, given := o[name]
	if !given {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n > math.MaxInt32 {
		return 0, fmt.Errorf("--%s: %.40q is not a number", name, text)
	}
	return int32(n), nil
}

// size returns the options for the size of the job.
func (o options) size() (jobsize.Options, error) {
	size := jobsize.Options{
		Nodes: o["nodes"], GPUs: o["gpus"], GPUsPerNode: o["gpus-per-node"], GPUsPerTask: o["gpus-per-task"],
		Gres: o["gres"], Mem: o["mem"], MemPerCPU: o["mem-per-cpu"], MemPerGPU: o["mem-per-gpu"], Tmp: o["tmp"],
		Constraint: o["constraint"], NodeList: o["nodelist"], Exclude: o["exclude"], Exclusive: o.exclusive(),
		Licenses: o["licenses"], Reservation: o["reservation"], Overcommit: o.has("overcommit"), Hint: o["hint"],
	}
	// Slurm writes memory and disk of 0 as 0?.
	for _, amount := range []*string{&size.Mem, &size.MemPerCPU, &size.Tmp} {
		*amount = strings.TrimSuffix(*amount, "?")
	}
	for _, number := range [...]struct {
		name string
		n    *int32
	}{
		{"ntasks", &size.NTasks}, {"ntasks-per-node", &size.NTasksPerNode}, {"cpus-per-task", &size.CPUsPerTask},
		{"mincpus", &size.MinCPUs}, {"ntasks-per-gpu", &size.NTasksPerGPU}, {"cpus-per-gpu", &size.CPUsPerGPU},
		{"threads-per-core", &size.ThreadsPerCore}, {"ntasks-per-core", &size.NTasksPerCore},
	} {
		var err error
		if *number.n, err = o.number(number.name); err != nil {
			return size, err
		}
	}
	return size, nil
}

// exclusive reports whether the job is to be alone on its nodes. Slurm lists --oversubscribe as
// a value of --exclusive. A job that shares its nodes only with jobs of its own user waits for
// whole nodes, too.
func (o options) exclusive() bool {
	value, given := o["exclusive"]
	return given && value != "oversubscribe"
}
