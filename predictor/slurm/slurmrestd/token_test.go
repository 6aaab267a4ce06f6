package slurmrestd

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// jwt makes a token that expires after life.
func jwt(life time.Duration) string {
	claims := fmt.Sprintf(`{"exp":%d,"sun":"varq"}`, time.Now().Add(life).Unix())
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

// printer writes a command that prints text and counts its runs in the file
// runs.
func printer(t *testing.T, text string) (command, runs string) {
	t.Helper()
	dir := t.TempDir()
	command, runs = filepath.Join(dir, "token"), filepath.Join(dir, "runs")
	script := fmt.Sprintf("#!/bin/sh\necho run >>%s\necho '%s'\n", runs, text)
	if err := os.WriteFile(command, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return command, runs
}

func TestTokenCommand(t *testing.T) {
	for _, c := range []struct {
		life time.Duration
		runs int // of three requests
	}{{time.Hour, 1}, {0, 3}} {
		want := jwt(c.life)
		command, runs := printer(t, "SLURM_JWT="+want)
		token := TokenCommand(command, "lifespan=3600")
		for range 3 {
			if got, err := token(); err != nil || got != want {
				t.Errorf("%q, %v", got, err)
			}
		}
		if text, _ := os.ReadFile(runs); strings.Count(string(text), "run") != c.runs {
			t.Errorf("a life of %v: %d runs, want %d", c.life, strings.Count(string(text), "run"), c.runs)
		}
	}
}

// A token is renewed after half of its life, which is what Slurm says, however wrong this host's
// clock is.
func TestTokenLivesBySlurmsClock(t *testing.T) {
	made := time.Unix(1_800_000_000, 0)
	claims := fmt.Sprintf(`{"exp":%d,"iat":%d,"sun":"varq"}`, made.Unix()+3600, made.Unix())
	for _, ahead := range []time.Duration{0, time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour} {
		command, runs := printer(t, "SLURM_JWT=e30."+base64.RawURLEncoding.EncodeToString([]byte(claims))+".c2ln")
		now := made.Add(ahead)
		token := tokenCommand{words: []string{command}, now: func() time.Time { return now }}
		for _, minutes := range []int{0, 29, 31, 60, 62} {
			now = made.Add(ahead + time.Duration(minutes)*time.Minute)
			if _, err := token.token(); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := os.ReadFile(runs); err != nil || strings.Count(string(text), "run") != 3 {
			t.Errorf("ahead by %v: %d runs in an hour, %v; want 3", ahead, strings.Count(string(text), "run"), err)
		}
	}
}

func TestTokenCommandFails(t *testing.T) {
	nonsense, _ := printer(t, "hello")
	for command, want := range map[string]string{nonsense: "not a JSON web token", "/nowhere/token": "no such file", "false": "exit status 1"} {
		if _, err := TokenCommand(command)(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", command, err, want)
		}
	}
}

func FuzzClaims(f *testing.F) {
	f.Add(jwt(time.Hour))
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := parseClaims(token); err == nil && strings.Count(token, ".") != 2 {
			t.Errorf("%q passes for a token", token)
		}
	})
}
