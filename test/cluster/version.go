package cluster

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Version is a Slurm release that Debian provides.
type Version string

// The supported releases. The one that the machine's own Debian provides is installed on the
// machine itself. The others run in a chroot.
const (
	Slurm2205 Version = "22.05"
	Slurm2411 Version = "24.11"
	Slurm2605 Version = "26.05"
)

// release says where a version comes from.
type release struct {
	version Version
	suite   string // of Debian's archive
	debian  string // that suite's name for users
}

var releases = []release{
	{Slurm2205, "bookworm", "Debian 12"},
	{Slurm2411, "trixie", "Debian 13"},
	{Slurm2605, "forky", "Debian forky"},
}

// release returns where the version comes from, and whether it is supported.
func (v Version) release() (r release, supported bool) {
	i := slices.IndexFunc(releases, func(r release) bool { return r.version == v })
	if i < 0 {
		return release{}, false
	}
	return releases[i], true
}

// word returns a word for the version: "slurm24".
func (v Version) word() string {
	year, _, _ := strings.Cut(string(v), ".")
	return "slurm" + year
}

// own returns the version that the machine's own Debian provides, or "" if it is none of these.
var own = sync.OnceValue(func() Version {
	text, _ := os.ReadFile("/etc/os-release") // where there is none, it is not a Debian
	return versionOf(string(text))
})

// versionOf returns the version that a Debian provides, given its os-release.
func versionOf(osRelease string) Version {
	for line := range strings.Lines(osRelease) {
		for _, r := range releases {
			if strings.TrimSpace(line) == "VERSION_CODENAME="+r.suite {
				return r.version
			}
		}
	}
	return ""
}

// Own returns the version that runs on the machine itself, or Slurm2205 if its own Debian has none.
func Own() Version { return cmp.Or(own(), Slurm2205) }

// Suite returns the suite of Debian's archive that provides the version, or "" if none does.
func (v Version) Suite() string {
	r, _ := v.release()
	return r.suite
}

// InChroot reports whether the version runs in a chroot, because this machine's Debian has another.
func (v Version) InChroot() bool { return v != own() }

// cache returns the folder of the version's Debian, which is the lowest layer of its chroots.
func (v Version) cache() string { return "/var/cache/varq-" + v.word() }

// Chosen returns the version that VARQ_SLURM names in the environment, and without it the machine's
// own, or Slurm2205 if it has none. Start rejects one that is not supported.
func Chosen() Version {
	return cmp.Or(Version(os.Getenv("VARQ_SLURM")), Own())
}

// AddFlags gives a command a flag for each version, as --slurm24. to becomes the one that is given,
// and at first the Chosen one. The flag sets of Go and of cobra will both do.
func AddFlags(f interface {
	BoolFunc(name, usage string, given func(string) error)
}, to *Version) {
	*to = Chosen()
	var given Version
	for _, r := range releases {
		f.BoolFunc(r.version.word(), fmt.Sprintf("Slurm %s, of %s", r.version, r.debian), func(text string) error {
			wanted, err := strconv.ParseBool(text)
			switch {
			case err != nil || !wanted:
				return err
			case given != "" && given != r.version:
				return fmt.Errorf("a cluster has either Slurm %s or %s", given, r.version)
			}
			given, *to = r.version, r.version
			return nil
		})
	}
}

// versions lists the supported versions.
func versions() string {
	var all []string
	for _, r := range releases {
		all = append(all, string(r.version))
	}
	return strings.Join(all, ", ")
}
