package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"syscall"
)

// registryFile lists this machine's clusters. With it, clusters choose different ports, and
// the last cluster removes the users. The file is removed with the last cluster.
const registryFile = "/run/varq-clusters.json"

type registry struct {
	Clusters []state
	Users    []string // users that addUser created on the machine
}

// ports holds a cluster's TCP ports, which are consecutive.
type ports struct {
	Slurmctld, Slurmdbd, Slurmrestd int
	Slurmd                          int // of the first node
}

const portsBesideNodes = 3

func portsFrom(first int) ports {
	return ports{Slurmctld: first, Slurmdbd: first + 1, Slurmrestd: first + 2, Slurmd: first + 3}
}

// withRegistry runs f on the registry under an exclusive lock. It saves the registry even if f
// returns an error.
func withRegistry(f func(*registry) error) (err error) {
	file, err := lockFile(registryFile)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	var r registry
	if len(text) > 0 {
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("%s: %w", registryFile, err)
		}
	}
	err = f(&r)
	if len(r.Clusters) == 0 && len(r.Users) == 0 {
		return errors.Join(err, os.Remove(registryFile))
	}
	return errors.Join(err, r.write(file))
}

func (r *registry) write(file *os.File) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteAt(append(text, '\n'), 0)
	return err
}

// lockFile opens a file, or creates it, and locks it exclusively until it is closed. If the
// file was removed while lockFile waited for the lock, lockFile tries again.
func lockFile(name string) (*os.File, error) {
	for {
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			file.Close()
			return nil, fmt.Errorf("locking %s: %w", name, err)
		}
		locked, err1 := file.Stat()
		there, err2 := os.Stat(name)
		if err1 == nil && err2 == nil && os.SameFile(locked, there) {
			return file, nil
		}
		file.Close()
	}
}

// register assigns ports to the cluster and adds it to the registry. Before, it stops clusters
// whose starter crashed.
func (c *Cluster) register() error {
	if err := stopAbandoned(); err != nil {
		return err
	}
	return withRegistry(func(r *registry) error {
		if err := r.choosePorts(&c.state); err != nil {
			return err
		}
		r.Clusters = append(r.Clusters, c.state)
		return nil
	})
}

func (c *Cluster) unregister() error {
	return withRegistry(func(r *registry) error {
		r.Clusters = slices.DeleteFunc(r.Clusters, func(s state) bool { return s.Dir == c.Dir })
		if len(r.Clusters) > 0 {
			return nil
		}
		return r.removeUsers()
	})
}

// stopAbandoned stops the clusters that are not detached and whose starter has ended.
func stopAbandoned() error {
	var abandoned []state
	err := withRegistry(func(r *registry) error {
		for _, s := range r.Clusters {
			if !s.Detached && !s.Starter.alive() {
				abandoned = append(abandoned, s)
			}
		}
		return nil
	})
	for _, s := range abandoned {
		c := &Cluster{state: s, root: rootOf(s.Version, s.Dir), progress: io.Discard}
		err = errors.Join(err, c.Stop())
	}
	return err
}

// choosePorts assigns consecutive free ports. They are below the range that the kernel uses
// for outgoing connections.
func (r *registry) choosePorts(s *state) error {
	const lowest, highest, attempts = 20000, 32000, 100
	count := portsBesideNodes + s.Nodes
	for range attempts {
		first := lowest + rand.IntN(highest-lowest-count)
		if r.taken(first, count) || !free(first, count) {
			continue
		}
		s.Ports = portsFrom(first)
		return nil
	}
	return fmt.Errorf("no %d free ports in a row between %d and %d", count, lowest, highest)
}

func (r *registry) taken(first, count int) bool {
	return slices.ContainsFunc(r.Clusters, func(s state) bool {
		other, others := s.Ports.Slurmctld, portsBesideNodes+s.Nodes
		return first < other+others && other < first+count
	})
}

func free(first, count int) bool {
	for port := first; port < first+count; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}
