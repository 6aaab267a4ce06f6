package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strings"
)

// User is a person, or a service, that the cluster knows.
type User struct {
	Name     string
	Account  string
	Operator bool // has Slurm's AdminLevel=Operator
	System   bool // cannot log in
}

// Users returns the users of every cluster: two ordinary ones with accounts of
// their own, an operator, and the one that varqd runs as.
func Users() []User {
	return []User{
		{Name: "alice", Account: "phys"},
		{Name: "bob", Account: "chem"},
		{Name: "oper", Account: "phys", Operator: true},
		{Name: "varq", Account: "phys", Operator: true, System: true},
	}
}

// ordinaryUsers names those without a privilege.
func ordinaryUsers() []string {
	var names []string
	for _, u := range Users() {
		if !u.Operator {
			names = append(names, u.Name)
		}
	}
	return names
}

// restUser runs slurmrestd, which refuses to be root or SlurmUser.
const restUser = "slurmrest"

// accounts returns the accounts of Users, each once.
func accounts() []string {
	var names []string
	for _, u := range Users() {
		if !slices.Contains(names, u.Account) {
			names = append(names, u.Account)
		}
	}
	return names
}

// addUsers makes those users that the machine lacks, and makes them known in
// the chroot by the same ids.
func (c *Cluster) addUsers() error {
	return withRegistry(func(r *registry) error {
		for _, u := range append(Users(), User{Name: restUser, System: true}) {
			if err := r.addUser(u); err != nil {
				return err
			}
			if err := c.root.copyUser(u.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

// addUser makes one user unless there is one of that name, and notes that it is
// ours to remove.
func (r *registry) addUser(u User) error {
	_, err := user.Lookup(u.Name)
	if err == nil {
		return nil
	}
	var unknown user.UnknownUserError
	if !errors.As(err, &unknown) {
		return err
	}
	args := []string{"--create-home", "--shell", "/bin/bash", u.Name}
	if u.System {
		args = []string{"--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", u.Name}
	}
	if out, err := exec.Command("/usr/sbin/useradd", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("useradd %s: %w: %s", u.Name, err, out)
	}
	r.Users = append(r.Users, u.Name)
	return nil
}

// removeUsers undoes addUser.
func (r *registry) removeUsers() error {
	var errs []error
	for _, name := range r.Users {
		// --remove fails for want of a mail spool, yet removes the user.
		out, err := exec.Command("/usr/sbin/userdel", "--force", "--remove", name).CombinedOutput()
		if _, left := user.Lookup(name); left == nil {
			errs = append(errs, fmt.Errorf("userdel %s: %w: %s", name, err, out))
		}
	}
	r.Users = nil
	return errors.Join(errs...)
}

// id is one line of /etc/passwd.
type id struct {
	uid, gid int
	home     string
}

// chown gives a file to a user of the cluster's system, and to her group.
func (c *Cluster) chown(path, name string) error {
	owner, err := c.root.lookup(name)
	if err != nil {
		return err
	}
	return os.Chown(path, owner.uid, owner.gid)
}

// lookup finds a user in the root's own passwd file.
func (r root) lookup(name string) (id, error) {
	file := r.path("/etc/passwd")
	text, err := os.ReadFile(file)
	if err != nil {
		return id{}, err
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) != 7 || f[0] != name {
			continue
		}
		var u id
		if _, err := fmt.Sscan(f[2]+" "+f[3], &u.uid, &u.gid); err != nil {
			return id{}, fmt.Errorf("%s: user %s: %w", file, name, err)
		}
		u.home = f[5]
		return u, nil
	}
	return id{}, fmt.Errorf("%s: no user %s", file, name)
}
