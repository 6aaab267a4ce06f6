package cli

import (
	"errors"
	"fmt"
	"path/filepath"
)

// StateFolder returns the folder with a name in which varq keeps what is a user's own, by
// XDG_STATE_HOME, else HOME. The error says that nobody can tell where these things are.
func (env *Env) StateFolder(name, things string) (string, error) {
	state := env.Getenv("XDG_STATE_HOME")
	if state == "" {
		home := env.Getenv("HOME")
		if home == "" {
			return "", errors.New("neither XDG_STATE_HOME nor HOME is set, so that nobody can tell where the " + things + " are")
		}
		state = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(state) {
		return "", fmt.Errorf("XDG_STATE_HOME or HOME: %s is not an absolute path", state)
	}
	return filepath.Join(state, "varq", name), nil
}
