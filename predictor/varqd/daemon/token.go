package daemon

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"os/user"
	"strings"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// tokenTime bounds how long the token command may take.
const tokenTime = 20 * time.Second

// tokenSource returns where slurmrestd's tokens come from: a file, else a
// command, else nowhere (nil).
func tokenSource(c config.Slurmrestd) func() (string, error) {
	switch {
	case c.TokenFile != "":
		return slurmrestd.TokenFile(c.TokenFile)
	case c.TokenCommand != "":
		return (&tokenCommand{args: strings.Fields(c.TokenCommand)}).token
	}
	return nil
}

// slurmUser returns the Slurm user to act as.
func slurmUser(c config.Slurmrestd) (string, error) {
	if c.User != "" {
		return c.User, nil
	}
	u, err := user.Current()
	if err != nil {
		return "", fmt.Errorf("slurmrestd.user is not set, and who runs varqd is not known: %w", err)
	}
	return u.Username, nil
}

// tokenCommand makes tokens by a command, a new one when half the life of the
// last is over.
type tokenCommand struct {
	args []string

	mu    sync.Mutex
	last  string
	renew time.Time
}

func (t *tokenCommand) token() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.last != "" && now.Before(t.renew) {
		return t.last, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), tokenTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, t.args[0], t.args[1:]...).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("token: %s: %w", t.args[0], err)
	}
	token := strings.TrimPrefix(strings.TrimSpace(string(out)), "SLURM_JWT=")
	expires, err := expiry(token)
	if err != nil {
		return "", fmt.Errorf("token: %s: %w", t.args[0], err)
	}
	t.last, t.renew = token, now.Add(expires.Sub(now)/2)
	return token, nil
}

// expiry returns when a JSON web token expires.
func expiry(token string) (time.Time, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, fmt.Errorf("its output is not a JSON web token")
	}
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return time.Time{}, fmt.Errorf("its output is not a JSON web token: %w", err)
	}
	var claims struct {
		Expires int64 `json:"exp"`
	}
	if err := json.Unmarshal(data, &claims); err != nil {
		return time.Time{}, fmt.Errorf("its output is not a JSON web token: %w", err)
	}
	return time.Unix(claims.Expires, 0), nil
}
