package filter

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/slurm/option"
	"github.com/varq-project/varq/test/golden"
)

// ours is the name of the tests' cluster.
func ours() string { return "lab" }

// ends has the options with which a command ends before it submits anything.
var ends = []string{"help", "usage", "version", "autocomplete"}

// inHelp finds the options in what --help prints.
var inHelp = regexp.MustCompile(`--([a-z0-9][a-z0-9_-]*)`)

// spelled has the names by which commands take an option that json_cli_options tells by another.
var spelled = map[string]string{"tasks-per-node": "ntasks-per-node", "cpu_bind": "cpu-bind", "cluster": "clusters"}

// known fails the test if an option of a command is in none of the lists.
func known(t *testing.T, of, name string) {
	t.Helper()
	if other, found := spelled[name]; found {
		name = other
	}
	if !slices.Contains(ends, name) && !option.Listed(name) {
		t.Errorf("%s has --%s, which is neither understood nor harmless nor unwelcome", of, name)
	}
}

// TestSlurmOptions finds each option in one list: those that the --help of three Slurms tells,
// those that they take beside these, and the keys that json_cli_options was seen to have for each
// option, and for each environment variable.
func TestSlurmOptions(t *testing.T) {
	var listedOnce []string
	for _, u := range option.Unwelcome {
		listedOnce = append(listedOnce, u.Name)
	}
	for _, u := range option.Understood {
		listedOnce = append(listedOnce, u.Name)
	}
	listedOnce = slices.Concat(listedOnce, option.Harmless)
	slices.Sort(listedOnce)
	if len(slices.Compact(slices.Clone(listedOnce))) != len(listedOnce) {
		t.Errorf("some are in two lists: %s", listedOnce)
	}
	seen := map[string]bool{}
	folders, err := filepath.Glob("testdata/slurm/*.*.*")
	if err != nil || len(folders) != 3 {
		t.Fatal(folders, err)
	}
	for _, folder := range folders {
		for _, command := range []string{"sbatch", "srun", "salloc"} {
			text, err := os.ReadFile(filepath.Join(folder, command+".help"))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range inHelp.FindAllSubmatch(text, -1) {
				known(t, filepath.Base(folder)+"'s "+command, string(m[1]))
			}
		}
		text, err := os.ReadFile(filepath.Join(folder, "keys"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			// the command, the option or the variable, and the key if there is one
			words := strings.Fields(line)
			of := filepath.Base(folder) + "'s " + words[0]
			name, option := strings.CutPrefix(words[1], "--")
			if option {
				known(t, of, name)
			}
			if len(words) < 3 {
				continue
			}
			key := words[2]
			if other, found := spellings[key]; found {
				key = other
			}
			known(t, of, key)
			seen[key] = true
			if !option && always(key) && key != "jobid" && variable(words[0], key, []string{name + "=1"}) != name {
				t.Errorf("a refusal of --%s does not name %s's %s", key, of, name)
			}
		}
	}
	for _, name := range listedOnce {
		if !seen[name] && name != "het-group" && name != "pack-group" {
			t.Errorf("no Slurm has --%s", name)
		}
	}
}

// inSbatchHelp finds an option in what sbatch --help prints: its letter, its name, and whether a
// value follows.
var inSbatchHelp = regexp.MustCompile(`(?m)^ +(?:-(\w), )?--([a-z0-9-]+)(\[?=)?`)

// TestSbatchFlags: the options are on sbatch's command line as three Slurms tell by --help, and
// varq's commands have the others themselves.
func TestSbatchFlags(t *testing.T) {
	folders, err := filepath.Glob("testdata/slurm/*.*.*")
	if err != nil || len(folders) != 3 {
		t.Fatal(folders, err)
	}
	// those that varq quote has itself
	own := strings.Fields(`account clusters constraint cpus-per-gpu cpus-per-task exclude exclusive gpus gpus-per-node gpus-per-task gres licenses mem
		mem-per-cpu mem-per-gpu mincpus nodelist nodes ntasks ntasks-per-node partition qos reservation time tmp`)
	// they need the value that --help calls optional, or lack the one that it does not tell
	odd := []string{"export", "wrap", "get-user-env", "container", "container-id"}
	for _, folder := range folders {
		text, err := os.ReadFile(filepath.Join(folder, "sbatch.help"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inSbatchHelp.FindAllStringSubmatch(string(text), -1) {
			letter, name, value := m[1], m[2], m[3]
			if slices.Contains(ends, name) || slices.Contains(own, name) {
				continue
			}
			i := slices.IndexFunc(option.Flags, func(f option.Flag) bool { return f.Name == name })
			if i < 0 {
				t.Errorf("%s: no flag for --%s", folder, name)
				continue
			}
			f := option.Flags[i]
			if f.Letter != letter || f.Must != (value == "=") && !slices.Contains(odd, name) {
				t.Errorf("%s: -%s, --%s%s is %+v", folder, letter, name, value, f)
			}
		}
	}
	for _, f := range option.Flags {
		if !option.Listed(f.Name) {
			t.Errorf("--%s is in no list", f.Name)
		}
	}
}

// always reports whether an option is unwelcome whatever its value is.
func always(name string) bool {
	return name == "clusters" || slices.ContainsFunc(option.Unwelcome, func(u option.Why) bool { return u.Name == name })
}

// possible finds the options that getopt_long names when it is given an abbreviation of several.
var possible = regexp.MustCompile(`'--([a-z0-9_-]+)'`)

// TestInstalledSlurm is TestSlurmOptions of the Slurm that is installed, if there is one.
func TestInstalledSlurm(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "slurm.conf")
	if err := os.WriteFile(conf, []byte("ClusterName=lab\nSlurmctldHost=localhost\nSlurmctldPort=1\nNodeName=localhost\nPartitionName=main Nodes=ALL\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"sbatch", "srun", "salloc"} {
		path, err := exec.LookPath(command)
		if err != nil {
			t.Skip("no Slurm is installed")
		}
		run := func(args ...string) []byte {
			cmd := exec.CommandContext(t.Context(), path, args...)
			cmd.Env = append(os.Environ(), "SLURM_CONF="+conf)
			text, _ := cmd.CombinedOutput() // an abbreviation is an error
			return text
		}
		text := run("--help")
		if !bytes.Contains(text, []byte("--nodes")) {
			t.Skipf("%s --help: %s", command, text)
		}
		for _, m := range inHelp.FindAllSubmatch(text, -1) {
			known(t, command, string(m[1]))
		}
		for letter := 'a'; letter <= 'z'; letter++ {
			// If it abbreviates one option alone, the first --help may be its value; nothing is
			// submitted.
			if text := run("--"+string(letter), "--help", "--help"); bytes.Contains(text, []byte("is ambiguous")) {
				for _, m := range possible.FindAllSubmatch(text, -1)[1:] {
					known(t, command, string(m[1]))
				}
			}
		}
	}
}

// TestReadOtherClusters: each way to name another cluster is refused, and the own one is as if none
// was named.
func TestReadOtherClusters(t *testing.T) {
	for _, key := range []string{"cluster", "clusters"} {
		for _, asked := range []string{`"spank:begin-by":"now+1hour"`, `"spank:finish-by":"now+1hour"`, `"spank:size":"auto","spank:sizes":"2:30"`} {
			for cluster, fits := range map[string]bool{"lab": true, "LAB": true, "beta": false, "lab,lab": true, "lab,Lab,lab": true, "lab,beta": false, "lab,": false, "all": false} {
				box := fmt.Sprintf(`{%s,%q:%q}`, asked, key, cluster)
				_, err := Read([]byte(box), "sbatch", nil, now, time.UTC, ours)
				if refused := err != nil && strings.Contains(err.Error(), option.OneCluster); refused == fits || fits && err != nil {
					t.Errorf("%s: %v", box, err)
				}
			}
		}
	}
	if _, err := Read([]byte(`{"spank:begin-by":"now+1hour","clusters":"lab"}`), "sbatch", nil, now, time.UTC, func() string { return "" }); err == nil {
		t.Error("a host that does not know its cluster takes any")
	}
	order := []string{`VARQ_RESERVE={"site":"beta","report":"r"}`}
	for cluster, fits := range map[string]bool{"beta": true, "beta,beta": true, "lab": false, "beta,lab": false} {
		if _, err := Read([]byte(`{"spank:begin-by":"now+1hour","cluster":"`+cluster+`"}`), "sbatch", order, now, time.UTC, ours); (err == nil) != fits {
			t.Errorf("of an order for beta, %s: %v", cluster, err)
		}
	}
}

// TestReadNothing: an option that asks for nothing is as if it were left out. The values are those
// that json_cli_options has.
func TestReadNothing(t *testing.T) {
	for _, asked := range []string{`"spank:begin-by":"now+1hour"`, `"spank:finish-by":"now+1hour","time":"30"`, `"spank:size":"auto","spank:sizes":"1:30","spank:lock-in":"no"`} {
		read := func(options string) *Submission {
			s, err := Read([]byte("{"+asked+options+`,"argv":["job.sh"]}`), "sbatch", nil, now, time.UTC, ours)
			if err != nil {
				t.Errorf("%s: %v", asked+options, err)
			}
			return s
		}
		plain := read("")
		for _, option := range []string{
			`"array":""`, `"bb":""`, `"cluster-constraint":""`, `"dependency":""`, `"gpus-per-socket":"0"`, `"gpus-per-socket":""`,
			`"immediate":"0"`, `"nice":"0"`, `"tmp":"0?"`, `"gpus":"0"`, `"gpus":""`, `"gpus-per-node":"0"`, `"gpus-per-task":"a100:0"`,
			`"gres":"none"`, `"gres":"NONE"`, `"gres":"gres:"`, `"gres":"gres:gpu:0"`, `"gres":"gres/gpu:a100:0"`, `"gres":"gres:gpu:0,gres:shard:0"`,
			`"licenses":""`, `"exclude":""`, `"nodelist":""`, `"constraint":""`, `"reservation":""`,
		} {
			if s := read("," + option); s != nil {
				if diff := gocmp.Diff(plain.Request, s.Request); diff != "" {
					t.Errorf("%s: (-without +with it):\n%s", option, diff)
				}
			}
		}
	}
	for _, option := range []string{`"nice":"-1"`, `"core-spec":"0"`, `"immediate":"1"`, `"hold":"set"`, `"dependency":"singleton"`, `"gpus-per-socket":"1"`} {
		if _, err := Read([]byte(`{"spank:begin-by":"now+1hour",`+option+`}`), "sbatch", nil, now, time.UTC, ours); err == nil {
			t.Errorf("%s was taken", option)
		}
	}
}

func TestReadRefusesOptions(t *testing.T) {
	for options, want := range map[string]string{
		`"tres-per-task":"cpu=8,gres/gpu=1"`: "--tres-per-task does not go together with --begin-by: say how much each task has of what with --cpus-per-task, --gpus-per-task and --mem-per-cpu\nleave out the one or the other: without --begin-by the job is submitted like any other",
		`"nice":"-1"`: "--nice=-1 does not go together with --begin-by: it raises the job's priority, which Slurm lets operators alone do\n" +
			"leave out the one or the other: without --begin-by the job is submitted like any other",
		`"segment":"4"`:                  "--segment does not",
		`"bb":"capacity=1T"`:             "--bb does not",
		`"priority":"1"`:                 "--priority does not",
		`"distribution":"arbitrary"`:     "--distribution=arbitrary does not go together with --begin-by: how long the nodes that SLURM_HOSTFILE names",
		`"distribution":"cyclic"`:        "",
		`"exclusive":"topo"`:             "--exclusive=topo does not",
		`"exclusive":"user"`:             "",
		`"gres-flags":"enforce-binding"`: "--gres-flags=enforce-binding does not",
		`"gres-flags":"disable-binding"`: "",
		`"nodelist":"./hosts"`:           "--nodelist=./hosts does not go together with --begin-by: varq does not read the file; name the nodes themselves",
		`"quantum":"set","spank:quantum":"1"`: "--quantum does not go together with --begin-by: this varq does not know what that changes about the job\n" +
			"leave out the one or the other: without --begin-by the job is submitted like any other",
		`"quantum":7`:             "--quantum does not",
		`"spank:quantum":"1"`:     "",
		`"wrap":"true","wait":""`: "",
	} {
		_, err := Read([]byte(`{"spank:begin-by":"now+1hour",`+options+`,"argv":["job.sh"]}`), "sbatch", nil, now, time.UTC, ours)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
}

// The manual page and the site guide have the lists, as -update writes them there.
func TestManualsHaveSlurmOptions(t *testing.T) {
	for _, c := range []struct{ page, from, to, lists string }{
		{"../../packaging/man/varq.7", ".\\\" options of Slurm, by go test ./plugin/filter -update\n", ".\\\" end of these\n", manual()},
		{"../../packaging/doc/guide/guide.md", "<!-- options of Slurm, by go test ./plugin/filter -update -->\n\n", "\n<!-- end of these -->\n", guide(t)},
	} {
		text, err := os.ReadFile(c.page)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, found := strings.Cut(string(text), c.from)
		_, tail, closed := strings.Cut(rest, c.to)
		if !found || !closed {
			t.Fatalf("%s has no place for them", c.page)
		}
		want := head + c.from + c.lists + c.to + tail
		if diff := gocmp.Diff(want, string(golden.Want(t, c.page, []byte(want)))); diff != "" {
			t.Errorf("go test ./plugin/filter -update mends it:\n%s", diff)
		}
	}
}

// guide returns a table of all options that the --help of three Slurms' sbatch has.
func guide(t *testing.T) string {
	t.Helper()
	folders, err := filepath.Glob("testdata/slurm/*.*.*")
	if err != nil || len(folders) != 3 {
		t.Fatal(folders, err)
	}
	options := map[string]bool{}
	for _, folder := range folders {
		text, err := os.ReadFile(filepath.Join(folder, "sbatch.help"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inSbatchHelp.FindAllSubmatch(text, -1) {
			if name := string(m[2]); !slices.Contains(ends, name) {
				options[cmp.Or(spelled[name], name)] = true
			}
		}
	}
	var b strings.Builder
	b.WriteString("| option of `sbatch` | what varq does with it |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(options)) {
		fmt.Fprintf(&b, "| `--%s` | %s |\n", name, strings.ReplaceAll(whatBecomes(name), "|", "\\|"))
	}
	return b.String()
}

// whatBecomes says what varq does with an option.
func whatBecomes(name string) string {
	says := "nothing: start and costs stay the same"
	if why := option.Reason(name); why != "" {
		return "refuses it: " + why
	}
	for _, u := range option.Understood {
		if u.Name == name {
			says = u.Use
		}
	}
	for _, u := range option.UnwelcomeValues {
		if u.Name == name {
			says += "; refuses `" + u.Values + "`: " + u.Why
		}
	}
	return says
}

// manual returns the lists as paragraphs of a manual page.
func manual() string {
	var b strings.Builder
	list := func(names []string) {
		for i, name := range names {
			end := " ,"
			if i == len(names)-1 {
				end = " ."
			}
			fmt.Fprintf(&b, ".Fl Fl %s%s\n", name, end)
		}
	}
	b.WriteString(".Bl -tag -width Ds\n")
	for _, u := range option.Unwelcome {
		fmt.Fprintf(&b, ".It Fl Fl %s\n%s\n", u.Name, sentence(u.Why))
	}
	for _, u := range option.UnwelcomeValues {
		fmt.Fprintf(&b, ".It Fl Fl %s Pq %s\n%s\n", u.Name, u.Values, sentence(u.Why))
	}
	b.WriteString(".El\n.Pp\nThese values ask for nothing, and varq takes the option as left out:\n")
	for _, name := range slices.Sorted(maps.Keys(option.Nothing)) {
		for _, value := range option.Nothing[name] {
			fmt.Fprintf(&b, ".Fl Fl %s Pq %s ,\n", name, cmp.Or(value, "empty"))
		}
	}
	for _, name := range option.Resources {
		fmt.Fprintf(&b, ".Fl Fl %s Pq 0 of each ,\n", name)
	}
	b.WriteString("and\n.Fl Fl tmp Pq 0 .\n.Pp\nUnderstood are these, each with what varq makes of it:\n.Bl -tag -width Ds\n")
	for _, u := range option.Understood {
		fmt.Fprintf(&b, ".It Fl Fl %s\n%s\n", u.Name, sentence(u.Use))
	}
	b.WriteString(".El\n.Pp\nNothing changes with\n")
	list(option.Harmless)
	return b.String()
}

// sentence makes a sentence of a manual page of a clause.
func sentence(clause string) string {
	clause = strings.ReplaceAll(clause, "; ", ";\n")
	clause = strings.ReplaceAll(clause, "--", `\-\-`)
	if !strings.HasPrefix(clause, "varq") {
		clause = strings.ToUpper(clause[:1]) + clause[1:]
	}
	return clause + "."
}
