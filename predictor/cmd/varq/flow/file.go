package flow

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/varq-project/varq/predictor/api"
)

// File is a flow in a file: jobs that are submitted one after another.
type File struct {
	Name string `yaml:"name"`
	Jobs []Job  `yaml:"jobs"`
}

// Job is a job of a File. Sbatch is what follows sbatch on a command line. The others say, by
// Slurm's names for dependencies, for which jobs of the file it waits.
type Job struct {
	Name          string `yaml:"name"`
	Sbatch        string `yaml:"sbatch"`
	After         names  `yaml:"after"`
	AfterOK       names  `yaml:"afterok"`
	AfterAny      names  `yaml:"afterany"`
	AfterNotOK    names  `yaml:"afternotok"`
	AfterCorr     names  `yaml:"aftercorr"`
	AfterBurstBuf names  `yaml:"afterburstbuffer"`
}

// names are a name, or a list of them.
type names []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (n *names) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*n = names{node.Value}
		return nil
	}
	return node.Decode((*[]string)(n))
}

// condition is one kind of dependency of a job, on some of the file.
type condition struct {
	kind string
	on   names
}

// conditions returns those of a job.
func (j *Job) conditions() (list []condition) {
	for _, c := range []condition{
		{"after", j.After}, {"afterok", j.AfterOK}, {"afterany", j.AfterAny}, {"afternotok", j.AfterNotOK}, {"aftercorr", j.AfterCorr}, {"afterburstbuffer", j.AfterBurstBuf},
	} {
		if len(c.on) > 0 {
			list = append(list, c)
		}
	}
	return list
}

// mostBytes bounds a file.
const mostBytes = 1 << 20

// ReadFile reads a flow from a file, "-" for standard input. The error names the file, and the job
// or the line.
func ReadFile(path string, stdin io.Reader) (*File, error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, named(path, err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, mostBytes+1))
	if err == nil && len(text) > mostBytes {
		err = fmt.Errorf("it has more than %d bytes", mostBytes)
	}
	if err != nil {
		return nil, named(path, err)
	}
	f, err := Parse(text)
	if err != nil {
		return nil, named(path, err)
	}
	return f, nil
}

// named returns an error about a file, which it names once.
func named(path string, err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		err = of.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

var (
	unknownKey = regexp.MustCompile(`^(line \d+): field (\S+) not found in type flow\.\w+$`)
	otherKind  = regexp.MustCompile(`^(line \d+): cannot unmarshal .*$`)
)

// form is what a file looks like.
const form = "a file has the keys name and jobs, and each of the jobs name, sbatch and after, afterok, afterany, afternotok, aftercorr or afterburstbuffer ('varq flow --help' shows one)"

// said returns an error of the YAML package in words of the file.
func said(err error) error {
	wrong, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return errors.New("it is not YAML: " + strings.TrimPrefix(err.Error(), "yaml: "))
	}
	text := wrong.Errors[0]
	if m := unknownKey.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s: nothing is called %q here: %s", m[1], m[2], form)
	}
	if m := otherKind.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s: that does not belong here: %s", m[1], form)
	}
	return errors.New(text)
}

// Check returns what is wrong with a file of a flow: its error names the file, and the job or the
// line.
func Check(path string) error {
	_, err := ReadFile(path, nil)
	return err
}

// Parse reads a flow. Its jobs are then in an order in which each comes after those that it waits
// for.
func Parse(text []byte) (*File, error) {
	var f File
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, said(err)
	}
	if n := len(f.Jobs); n == 0 || n > api.MostFlowJobs {
		return nil, fmt.Errorf("jobs: a flow has 1 to %d jobs, and this one %d", api.MostFlowJobs, n)
	}
	if err := api.CheckName("name", f.Name); err != nil {
		return nil, err
	}
	byName := map[string]*Job{}
	for i := range f.Jobs {
		j := &f.Jobs[i]
		switch {
		case j.Name == "":
			return nil, fmt.Errorf("jobs: the %d. job has no name", i+1)
		case byName[j.Name] != nil:
			return nil, fmt.Errorf("jobs: two are called %q", j.Name)
		case strings.TrimSpace(j.Sbatch) == "":
			return nil, fmt.Errorf("job %s: sbatch is missing: what follows sbatch on a command line, such as '-N1 -t 30 job.sh'", j.Name)
		case strings.ContainsAny(j.Sbatch, "\n\x00"):
			return nil, fmt.Errorf("job %s: sbatch has more than one line", j.Name)
		}
		if err := j.check(); err != nil {
			return nil, fmt.Errorf("job %s: sbatch: %w", j.Name, err)
		}
		byName[j.Name] = j
	}
	for i := range f.Jobs {
		for _, c := range f.Jobs[i].conditions() {
			for _, name := range c.on {
				if byName[name] == nil {
					return nil, fmt.Errorf("job %s: %s: there is no job %q", f.Jobs[i].Name, c.kind, name)
				}
			}
		}
	}
	return &f, f.sort()
}

// sort orders the jobs so that each comes after those that it waits for. The error names jobs that
// wait for one another.
func (f *File) sort() error {
	done, left := map[string]bool{}, f.Jobs
	var sorted []Job
	for len(left) > 0 {
		ready := func(j Job) bool {
			return !slices.ContainsFunc(j.conditions(), func(c condition) bool {
				return slices.ContainsFunc(c.on, func(name string) bool { return !done[name] })
			})
		}
		i := slices.IndexFunc(left, ready)
		if i < 0 {
			return fmt.Errorf("job %s: it waits for itself, by the jobs that it waits for", left[0].Name)
		}
		done[left[i].Name] = true
		sorted = append(sorted, left[i])
		left = slices.Delete(slices.Clone(left), i, i+1)
	}
	f.Jobs = sorted
	return nil
}

// dependency returns the value of --dependency of a job, if others have these numbers; "" if it
// waits for none.
func (j *Job) dependency(numbers map[string]int64) string {
	var all []string
	for _, c := range j.conditions() {
		text := c.kind
		for _, name := range c.on {
			text += fmt.Sprintf(":%d", numbers[name])
		}
		all = append(all, text)
	}
	return strings.Join(all, ",")
}
