package doctor

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/guard"
)

// named is a command line, and the key in varq.yaml that has it.
type named struct{ of, command string }

// programs are those that varqd runs beside Slurm's.
func programs(c *config.Config) (list []named) {
	for i, f := range c.Forecasters {
		list = append(list, named{fmt.Sprintf("forecasters[%d].command", i), f.Command})
	}
	if c.Notices.Command != "" {
		list = append(list, named{"notices.command", c.Notices.Command})
	}
	return list
}

// owners are who may own what varqd runs, beside root and the present user: whom commands take for
// varqd.
func owners(c *config.Config) []uint32 {
	id := c.Client.User
	if u, err := user.Lookup(id); err == nil {
		id = u.Uid
	}
	uid, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return nil
	}
	return []uint32{uint32(uid)}
}

// Unguarded returns an error if others may change what varqd runs, or read the token by which it
// acts in Slurm. It says which file that is, and what to do. What is missing or cannot be run is
// none.
func Unguarded(c *config.Config) error {
	var errs []error
	note := func(of string, err error) {
		if open := (*guard.Error)(nil); errors.As(err, &open) {
			errs = append(errs, fmt.Errorf("%s: %w", of, open))
		}
	}
	list := programs(c)
	secret := func(key string, s *config.Slurmrestd) {
		switch {
		case s.TokenFile != "":
			note(key+"slurmrestd.token_file", guard.Secret(s.TokenFile))
		case strings.TrimSpace(s.TokenCommand) != "":
			list = append(list, named{key + "slurmrestd.token_command", s.TokenCommand})
		}
	}
	secret("", &c.Slurmrestd)
	for i := range c.Sites {
		if s := &c.Sites[i]; s.HasNoVarqd() {
			secret(fmt.Sprintf("sites[%d].", i), s.Slurmrestd)
		}
	}
	for _, p := range list {
		_, err := guard.Command(p.command, owners(c)...)
		note(p.of, err)
	}
	return errors.Join(errs...)
}
