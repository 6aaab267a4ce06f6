package cluster

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Version is a Slurm release that Debian provides.
type Version string

// The supported releases. Slurm2205 is installed on the machine itself, which must be Debian 12.
// The others run in a chroot.
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
	root    string // folder of the cached chroot; "" if the version is the machine's own
}

var releases = []release{
	{Slurm2205, "bookworm", "Debian 12", ""},
	{Slurm2411, "trixie", "Debian 13", "/var/cache/varq-slurm24"},
	{Slurm2605, "forky", "Debian forky", "/var/cache/varq-slurm26"},
}

// release returns where the version comes from, and whether it is supported.
func (v Version) release() (r release, supported bool) {
	i := slices.IndexFunc(releases, func(r release) bool { return r.version == v })
	if i < 0 {
		return release{}, false
	}
	return releases[i], true
}

// InChroot reports whether the version runs in a chroot, because this machine's Debian has another.
func (v Version) InChroot() bool {
	r, _ := v.release()
	return r.root != ""
}

// Chosen returns the version that VARQ_SLURM names in the environment, Slurm2205 without it. Start
// rejects one that is not supported.
func Chosen() Version {
	return cmp.Or(Version(os.Getenv("VARQ_SLURM")), Slurm2205)
}

// AddFlags gives a command a flag for each version that runs in a chroot, as --slurm24. to becomes
// the one that is given, and at first Slurm2205. The flag sets of Go and of cobra will both do.
func AddFlags(f interface {
	BoolFunc(name, usage string, given func(string) error)
}, to *Version) {
	*to = Slurm2205
	for _, r := range releases {
		if r.root == "" {
			continue
		}
		year, _, _ := strings.Cut(string(r.version), ".")
		f.BoolFunc("slurm"+year, "Slurm "+string(r.version)+", from "+r.debian+" in a chroot", func(text string) error {
			wanted, err := strconv.ParseBool(text)
			switch {
			case err != nil || !wanted:
				return err
			case *to != Slurm2205 && *to != r.version:
				return fmt.Errorf("a cluster has either Slurm %s or %s", *to, r.version)
			}
			*to = r.version
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
