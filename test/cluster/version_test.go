package cluster

import (
	"cmp"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestFlags: programs with either kind of flags choose the same versions.
func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want Version // "" is an error
	}{
		{nil, Chosen()},
		{[]string{"--slurm24"}, Slurm2411},
		{[]string{"--slurm26"}, Slurm2605},
		{[]string{"--slurm22"}, Slurm2205},
		{[]string{"--slurm26=false"}, Chosen()},
		{[]string{"--slurm26", "--slurm26"}, Slurm2605},
		{[]string{"--slurm24", "--slurm26"}, ""},
		{[]string{"--slurm26=perhaps"}, ""},
		{[]string{"--slurm19"}, ""},
	} {
		var ofGo, ofCobra Version
		goFlags, cobraFlags := flag.NewFlagSet("", flag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
		goFlags.SetOutput(io.Discard)
		AddFlags(goFlags, &ofGo)
		AddFlags(cobraFlags, &ofCobra)
		errs := []error{goFlags.Parse(c.args), cobraFlags.Parse(c.args)}
		if c.want == "" {
			if slices.Contains(errs, nil) {
				t.Errorf("%q: no error: %v", c.args, errs)
			}
			continue
		}
		if ofGo != c.want || ofCobra != c.want || errs[0] != nil || errs[1] != nil {
			t.Errorf("%q chose %s and %s, %v, want %s", c.args, ofGo, ofCobra, errs, c.want)
		}
	}
}

func TestChosen(t *testing.T) {
	for set, want := range map[string]Version{"": cmp.Or(own(), Slurm2205), "22.05": Slurm2205, "24.11": Slurm2411, "26.05": Slurm2605} {
		t.Setenv("VARQ_SLURM", set)
		if o, err := (Options{}).withDefaults(); err != nil || o.Version != want {
			t.Errorf("VARQ_SLURM=%s: %s, %v", set, o.Version, err)
		}
	}
	t.Setenv("VARQ_SLURM", "1")
	if _, err := (Options{}).withDefaults(); err == nil || !strings.Contains(err.Error(), "26.05") {
		t.Errorf("VARQ_SLURM=1: %v", err)
	}
}

func TestVersionOf(t *testing.T) {
	for text, want := range map[string]Version{
		"": "",
		"PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\nID=debian\n": Slurm2205,
		"PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nVERSION_CODENAME=trixie\nID=debian":                          Slurm2411,
		"PRETTY_NAME=\"Debian GNU/Linux forky/sid\"\nVERSION_CODENAME=forky\n":                                      Slurm2605,
		"PRETTY_NAME=\"Ubuntu 24.04 LTS\"\nVERSION_CODENAME=noble\n":                                                "",
	} {
		if got := versionOf(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
