// Package packaging tests what an installation puts on a host: the files, the configuration as
// delivered, and the packages. It also tests that all of it can be removed again.
package packaging

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/varqd/config"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestConfigurationShowsDefaults holds the installed file to its word: as it is,
// and with every setting commented in, it is the default.
func TestConfigurationShowsDefaults(t *testing.T) {
	const path = "etc/varq.yaml"
	asIs := read(t, path)
	settings := regexp.MustCompile(`(?m)^#(\S|  )`)
	for name, text := range map[string]string{
		"as is":        asIs,
		"commented in": settings.ReplaceAllString(asIs, "$1"),
	} {
		got, err := config.Parse(path, []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(config.Default(), got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s, the file differs from the defaults (-default +file):\n%s", name, diff)
		}
	}
}

// TestConfigurationIsWhole finds every key in the installed file and in the
// manual page.
func TestConfigurationIsWhole(t *testing.T) {
	file, manual := read(t, "etc/varq.yaml"), read(t, "man/varq.yaml.5")
	for section := range reflect.TypeFor[config.Config]().Fields() {
		name := section.Tag.Get("yaml")
		if !strings.Contains(file, "\n#"+name+":") {
			t.Errorf("varq.yaml does not show %s", name)
		}
		if section.Type.Kind() != reflect.Struct {
			if !strings.Contains(manual, "\n.It Cm "+name+" : ") {
				t.Errorf("varq.yaml(5) does not explain %s", name)
			}
			continue
		}
		_, ours, _ := strings.Cut(file, "\n#"+name+":\n")
		ours, _, _ = strings.Cut(ours, "\n\n")
		_, explained, found := strings.Cut(manual, "\n.Ss "+name+"\n")
		if !found {
			t.Errorf("varq.yaml(5) has no section %s", name)
		}
		explained, _, _ = strings.Cut(explained, "\n.Ss ")
		for key := range section.Type.Fields() {
			key := key.Tag.Get("yaml")
			if key == "-" { // it stands in no file
				continue
			}
			if !strings.Contains("\n"+ours, "\n#  "+key+":") {
				t.Errorf("varq.yaml does not show %s.%s", name, key)
			}
			if !strings.Contains(explained, "\n.It Cm "+key+" : ") {
				t.Errorf("varq.yaml(5) does not explain %s.%s", name, key)
			}
		}
	}
}
