package slurmrestd

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// TokenFile returns a function for Options.Token that reads path each time, so that
// a token may be renewed under a running program. The file holds the token alone, or
// the line SLURM_JWT=... that scontrol token prints.
func TokenFile(path string) func() (string, error) {
	return func() (string, error) {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("token: %w", err)
		}
		defer file.Close()
		data, err := io.ReadAll(io.LimitReader(file, maxToken))
		if err != nil {
			return "", fmt.Errorf("token: %w", err)
		}
		token := bareToken(data)
		if token == "" || strings.ContainsAny(token, " \t\r\n") {
			return "", fmt.Errorf("token: %s does not hold one token", path)
		}
		return token, nil
	}
}

// TokenCommand returns a function for Options.Token that runs a command and uses the token
// that it prints. words are the command's name and arguments. The command must print as
// scontrol token does. It runs again when half of the token's remaining life has passed.
func TokenCommand(words ...string) func() (string, error) {
	return (&tokenCommand{words: words, now: time.Now}).token
}

// tokenCommandTimeout bounds one run of a token command.
const tokenCommandTimeout = 20 * time.Second

// maxToken bounds a token, and what a command says beside it, in bytes.
const maxToken = 64 << 10

// beginning keeps the first maxToken bytes that are written to it.
type beginning []byte

func (b *beginning) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), maxToken-len(*b))]...)
	return len(p), nil
}

type tokenCommand struct {
	words []string
	now   func() time.Time // with a monotonic reading

	mu    sync.Mutex
	last  string
	renew time.Time // when last is to be replaced
}

func (t *tokenCommand) token() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if t.last != "" && now.Before(t.renew) {
		return t.last, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), tokenCommandTimeout)
	defer cancel()
	var out, said beginning
	command := exec.CommandContext(ctx, t.words[0], t.words[1:]...)
	command.Stdout, command.Stderr, command.WaitDelay = &out, &said, time.Second
	if err := command.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %.1000s", err, strings.TrimSpace(string(said)))
		}
		return "", fmt.Errorf("token: %s: %w", t.words[0], err)
	}
	token := bareToken(out)
	c, err := parseClaims(token)
	if err != nil {
		return "", fmt.Errorf("token: %s: %w", t.words[0], err)
	}
	made := now
	// by Slurm's clock, as is its end: this host's may be wrong by more than the token lives
	if c.Made != 0 {
		made = time.Unix(c.Made, 0)
	}
	t.last, t.renew = token, now.Add(time.Unix(c.Expires, 0).Sub(made)/2)
	return token, nil
}

// bareToken strips white space and scontrol's SLURM_JWT= from a token.
func bareToken(data []byte) string {
	return strings.TrimPrefix(strings.TrimSpace(string(data)), "SLURM_JWT=")
}

// claims are what a JSON web token says of itself, Unix seconds. Made is 0 if it does not tell.
type claims struct {
	Made    int64 `json:"iat"`
	Expires int64 `json:"exp"`
}

// parseClaims reads a JSON web token. It does not verify it.
func parseClaims(token string) (c claims, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, fmt.Errorf("its output is not a JSON web token")
	}
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return c, fmt.Errorf("its output is not a JSON web token: %w", err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("its output is not a JSON web token: %w", err)
	}
	return c, nil
}
