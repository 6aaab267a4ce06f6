package cli

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

func TestExit(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		says string
	}{
		{nil, ExitOK, ""},
		{ErrNo, ExitNo, ""},
		{UsageError{"varq quote", errors.New("no time")}, ExitUsage, "varq: no time\nTry 'varq quote --help'.\n"},
		{UsageError{Err: errors.New("moved")}, ExitUsage, "varq: moved\n"},
		{fmt.Errorf("one\x07\n%w", errors.New("two")), ExitFailed, "varq: one?\ntwo\n"},
	} {
		var stderr bytes.Buffer
		env := Env{Stderr: &stderr}
		if code := env.Exit("varq", c.err); code != c.code || stderr.String() != c.says {
			t.Errorf("%v: exit code %d, %q", c.err, code, &stderr)
		}
	}
}
