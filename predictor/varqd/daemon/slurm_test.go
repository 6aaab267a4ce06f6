package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/predictor/varqd/config"
)

func TestTokens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []config.Slurmrestd{{}, {TokenCommand: " "}} {
		if token(c) != nil {
			t.Errorf("%+v: a token out of nowhere", c)
		}
	}
	if got, err := token(config.Slurmrestd{TokenFile: file, TokenCommand: "/nowhere/token"})(); err != nil || got != "abc" {
		t.Errorf("%q, %v: the file goes before the command", got, err)
	}
	if _, err := token(config.Slurmrestd{TokenCommand: "/nowhere/token lifespan=3600"})(); err == nil {
		t.Error("no command, but a token")
	}
}
