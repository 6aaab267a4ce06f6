package packaging

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// manual returns the files of the manual pages.
func manual(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("man/*.[1-8]")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d manual pages: %v", len(pages), err)
	}
	return pages
}

// TestManualIsWellFormed: those who format manual pages find nothing wrong with them.
func TestManualIsWellFormed(t *testing.T) {
	for name, command := range map[string][]string{
		"mandoc": {"mandoc", "-Tlint", "-Wwarning"},
		"groff":  {"groff", "-mdoc", "-Tutf8", "-ww", "-Wbreak", "-z"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("%s is not installed", name)
			}
			for _, page := range manual(t) {
				out, err := exec.Command(command[0], append(command[1:], page)...).CombinedOutput()
				if err != nil || len(out) > 0 {
					t.Errorf("%s: %v\n%s", page, err, out)
				}
			}
		})
	}
}

// Where a page refers to others of varq's.
var crossReference = regexp.MustCompile(`(?m)^\..*\bXr ((?:varq|slurmlab)\S*) (\d)`)

// TestManualRefersToPages: where a page refers to another one of varq's, that is there.
func TestManualRefersToPages(t *testing.T) {
	pages := map[string]bool{}
	for _, page := range manual(t) {
		pages[filepath.Base(page)] = true
	}
	for page := range pages {
		for _, found := range crossReference.FindAllStringSubmatch(read(t, "man/"+page), -1) {
			if to := found[1] + "." + found[2]; !pages[to] {
				t.Errorf("%s refers to %s", page, to)
			}
		}
	}
}

// TestManualListsOptionsOfSbatch: varq.1 lists the options of sbatch that varq.7 tells of.
func TestManualListsOptionsOfSbatch(t *testing.T) {
	options := func(page, section string) []string {
		_, text, found := strings.Cut(read(t, page), "\n.Sh "+section+"\n")
		if !found {
			t.Fatalf("%s has no section %s", page, section)
		}
		text, _, _ = strings.Cut(text, "\n.Sh ")
		var names []string
		for _, item := range optionItem.FindAllString(text, -1) {
			for _, option := range longOption.FindAllStringSubmatch(item, -1) {
				names = append(names, option[1])
			}
		}
		slices.Sort(names)
		return names
	}
	if diff := cmp.Diff(options("man/varq.7", "OPTIONS"), options("man/varq.1", "OPTIONS OF SBATCH")); diff != "" {
		t.Errorf("options of sbatch (-varq.7 +varq.1):\n%s", diff)
	}
}

// An item about options in a list, and each of these options.
var (
	optionItem = regexp.MustCompile(`(?m)^\.It Fl Fl .*$`)
	longOption = regexp.MustCompile(`Fl Fl (\S+)`)
)

// TestManualHasNoOthers: a page that is generated, and each source of one, belongs to a command
// that there is, which the page of its program lists.
func TestManualHasNoOthers(t *testing.T) {
	lists := read(t, "man/varq.1") + read(t, "man/varq-lab.1")
	there := func(name string) bool {
		return name == "varq" || name == "varq-lab" || strings.Contains(lists, "\n.It Xr "+name+" 1\n")
	}
	for _, page := range manual(t) {
		if strings.HasPrefix(read(t, page), `.\" Code generated `) && !there(strings.TrimSuffix(filepath.Base(page), ".1")) {
			t.Errorf("%s is of no command", page)
		}
	}
	sources, err := filepath.Glob("man/src/*")
	if err != nil || len(sources) == 0 {
		t.Fatalf("%d sources of manual pages: %v", len(sources), err)
	}
	for _, source := range sources {
		if name, isSource := strings.CutSuffix(filepath.Base(source), ".1.in"); !isSource || !there(name) {
			t.Errorf("%s is the source of no page", source)
		}
	}
}
