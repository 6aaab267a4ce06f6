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

// User is a user of the cluster: a person or a service.
type User struct {
	Name     string
	Account  string
	Operator bool // has Slurm's AdminLevel=Operator
	System   bool // cannot log in
}

// Users returns the users of every cluster: two ordinary users in different accounts, an
// operator, and the user that varqd runs as, who is also an operator.
func Users() []User {
	return []User{
		{Name: "alice", Account: "phys"},
		{Name: "bob", Account: "chem"},
		{Name: "oper", Account: "phys", Operator: true},
		{Name: "varq", Account: "phys", Operator: true, System: true},
	}
}

// Crowd returns as many more ordinary users, in the accounts of Users in turn.
func Crowd(n int) []User {
	crowd, all := make([]User, n), accounts()
	for i := range crowd {
		crowd[i] = User{Name: fmt.Sprintf("user%02d", i+1), Account: all[i%len(all)]}
	}
	return crowd
}

// ordinaryUsers returns the names of the users who are not operators.
func ordinaryUsers() []string {
	var names []string
	for _, u := range Users() {
		if !u.Operator {
			names = append(names, u.Name)
		}
	}
	return names
}

// restUser is the user that slurmrestd runs as. slurmrestd refuses to run as root or as
// SlurmUser.
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

// addUsers creates those of the users and restUser that the machine lacks. It adds all of them to
// the chroot, if there is one, with the same uid and gid.
func (c *Cluster) addUsers(users []User) error {
	return withRegistry(func(r *registry) error {
		for _, u := range append(users, User{Name: restUser, System: true}) {
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

// addUser creates a user unless the machine has one of that name. It records a created user in
// r.Users, for removeUsers.
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

// removeUsers removes the users that addUser created.
func (r *registry) removeUsers() error {
	var errs []error
	for _, name := range r.Users {
		// userdel --remove fails if there is no mail spool, but it removes the user
		// nevertheless.
		out, err := exec.Command("/usr/sbin/userdel", "--force", "--remove", name).CombinedOutput()
		if _, left := user.Lookup(name); left == nil {
			errs = append(errs, fmt.Errorf("userdel %s: %w: %s", name, err, out))
		}
	}
	r.Users = nil
	return errors.Join(errs...)
}

// id holds the ids and the home folder from a line of /etc/passwd.
type id struct {
	uid, gid int
	home     string
}

// chown sets the owner of a file to a user in the root's /etc/passwd, and its group to that
// user's group.
func (c *Cluster) chown(path, name string) error {
	owner, err := c.root.lookup(name)
	if err != nil {
		return err
	}
	return os.Chown(path, owner.uid, owner.gid)
}

// Lookup returns the uid of a user of the cluster.
func (c *Cluster) Lookup(name string) (uid int, err error) {
	u, err := c.root.lookup(name)
	return u.uid, err
}

// lookup finds a user in the root's /etc/passwd.
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
