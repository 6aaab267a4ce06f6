package filter

import "testing"

// A user's own word goes before that of her site.
func TestQuiet(t *testing.T) {
	loud, still := func() bool { return false }, func() bool { return true }
	for _, c := range []struct {
		environment []string
		site        func() bool
		want        bool
	}{
		{nil, nil, false},
		{[]string{"HOME=/"}, loud, false},
		{[]string{"VARQ_QUIET=1"}, loud, true},
		{[]string{"VARQ_QUIET=yes"}, nil, true},
		{[]string{"VARQ_QUIET="}, loud, false},
		{[]string{"VARQ_QUIET="}, still, true},
		{[]string{"VARQ_QUIET=0"}, still, false},
		{[]string{"VARQ_QUIET=No"}, still, false},
		{nil, still, true},
	} {
		if got := quiet(c.environment, c.site); got != c.want {
			t.Errorf("%q: %v, want %v", c.environment, got, c.want)
		}
	}
}
