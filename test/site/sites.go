package site

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/varq-project/varq/test/certs"
)

// Join makes each site known to the commands of the first, as on a host from which several clusters
// are used. Each has its own varqd, and its own munge key and slurmdbd unless it was started beside
// the first: then sbatch --clusters reaches it.
func Join(first *Site, others ...*Site) error {
	var known strings.Builder
	known.WriteString("sites:\n")
	for _, s := range append([]*Site{first}, others...) {
		if s != first && s.Database == first.Database {
			fmt.Fprintf(&known, "  - {name: %s, endpoint: 'tcp://%s'}\n", s.Name, s.Address())
			continue
		}
		conf, bin, err := s.seenFrom(first)
		if err != nil {
			return err
		}
		fmt.Fprintf(&known, "  - {name: %s, endpoint: 'tcp://%s', munge_socket: %s, slurm_conf: %s, bin: %s}\n", s.Name, s.Address(), s.MungeSocket(), conf, bin)
	}
	return first.configureMore(known.String())
}

// JoinBare is Join of two sites, of which the second is as one without varqd: nothing but its
// slurmrestd is known. bin, if not empty, is the folder of its commands, and more are further keys.
func JoinBare(ctx context.Context, first, bare *Site, bin, more string) error {
	conf, found, err := bare.seenFrom(first)
	if err != nil {
		return err
	}
	known := fmt.Sprintf("sites:\n  - {name: %s, endpoint: 'unix://%s', munge_socket: %s}\n", first.Name, first.Socket(), first.MungeSocket()) +
		fmt.Sprintf("  - {name: %s, slurmrestd: {url: '%s', user: slurm, token_file: %s}, slurm_conf: %s, bin: %s, %s}\n",
			bare.Name, bare.RestURL(), bare.token(), conf, cmp.Or(bin, found), more)
	if err := first.configureMore(known); err != nil {
		return err
	}
	return first.RestartVarqd(ctx)
}

// Meet makes sites known to this one's varqd, which is then started again.
func (s *Site) Meet(ctx context.Context, sites ...*Site) error {
	var known strings.Builder
	known.WriteString("sites:\n")
	for _, other := range sites {
		fmt.Fprintf(&known, "  - {name: %s, endpoint: 'tcp://%s', munge_socket: %s}\n", other.Name, other.Address(), other.MungeSocket())
	}
	if err := s.configureMore(known.String()); err != nil {
		return err
	}
	return s.RestartVarqd(ctx)
}

// JoinByTLS makes sites known to each other's varqds, by certificates, and the others to the
// commands of the first, whose varqd relays what users ask. Each varqd lets the others speak for
// these users. The varqds are then started again.
func JoinByTLS(ctx context.Context, authority *certs.Authority, users []string, first *Site, others ...*Site) (err error) {
	all := append([]*Site{first}, others...)
	addresses := map[*Site]string{}
	for _, s := range all {
		if addresses[s], err = freeAddress(); err != nil {
			return err
		}
	}
	for _, s := range all {
		if err := s.ProveBy(authority, time.Now().Add(24*time.Hour)); err != nil {
			return err
		}
		var peers []string
		var known strings.Builder
		known.WriteString("sites:\n")
		for _, other := range all {
			endpoint := "unix://" + other.Socket()
			if other != s {
				endpoint = "tls://" + addresses[other]
				peers = append(peers, fmt.Sprintf("{name: %s, users: [%s]}", other.Name, strings.Join(users, ", ")))
			}
			fmt.Fprintf(&known, "  - {name: %s, endpoint: '%s'", other.Name, endpoint)
			if s == first {
				conf, bin, err := other.seenFrom(first)
				if err != nil {
					return err
				}
				fmt.Fprintf(&known, ", slurm_conf: %s, bin: %s", conf, bin)
			}
			known.WriteString("}\n")
		}
		tls := fmt.Sprintf("server:\n  tls: {listen: '%s', certificate: %s, key: %s, ca: %s}\n  peers: [%s]\n", addresses[s],
			s.Path("varq", s.Name+".crt"), s.Path("varq", s.Name+".key"), s.Path("varq", s.Name+".ca"), strings.Join(peers, ", "))
		text, err := os.ReadFile(s.Config())
		if err != nil {
			return err
		}
		if err := os.WriteFile(s.Config(), []byte(strings.Replace(string(text), "server:\n", tls, 1)+known.String()), 0o644); err != nil {
			return err
		}
		if err := s.RestartVarqd(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ProveBy gives the site a certificate until expires, whose key only varqd can read, in place of
// one that it has.
func (s *Site) ProveBy(authority *certs.Authority, expires time.Time) error {
	files, err := authority.Write(s.Path("varq"), expires, s.Name)
	if err != nil {
		return err
	}
	if out, err := exec.Command("chown", "varq:", files.Key).CombinedOutput(); err != nil {
		return fmt.Errorf("chown: %w: %s", err, out)
	}
	return nil
}

// configureMore appends to the configuration file.
func (s *Site) configureMore(text string) error {
	file, err := os.OpenFile(s.Config(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// seenFrom returns the slurm.conf, and the folder of the commands, with which users of another
// site's hosts, or of its own, reach the cluster. The commands of a cluster in a chroot run outside
// of it with the libraries and plugins inside.
func (s *Site) seenFrom(host *Site) (conf, bin string, err error) {
	if s == host || s.Root() == "/" {
		return s.Conf(), "''", nil
	}
	const libraries = "usr/lib/x86_64-linux-gnu"
	text, err := os.ReadFile(s.Conf())
	if err != nil {
		return "", "", err
	}
	conf = filepath.Join(filepath.Dir(s.Conf()), "outside.conf")
	plugins := "PluginDir=" + filepath.Join(s.Root(), libraries, "slurm-wlm") + "\n"
	if err := os.WriteFile(conf, append(text, plugins...), 0o644); err != nil {
		return "", "", err
	}
	bin = s.Path("bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return "", "", err
	}
	for _, name := range []string{"sbatch", "scancel", "squeue", "scontrol"} {
		script := fmt.Sprintf("#!/bin/sh\nexec %s/lib64/ld-linux-x86-64.so.2 --library-path %[1]s/%[2]s:%[1]s/%[2]s/slurm-wlm --argv0 %[3]s %[1]s/usr/bin/%[3]s \"$@\"\n",
			strings.TrimSuffix(s.Root(), "/"), libraries, name)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			return "", "", err
		}
	}
	return conf, bin, nil
}

// RestartVarqd stops varqd and starts it again, with the configuration as it is now.
func (s *Site) RestartVarqd(ctx context.Context) error {
	if err := s.StopVarqd(); err != nil {
		return err
	}
	return s.StartVarqd(ctx)
}
