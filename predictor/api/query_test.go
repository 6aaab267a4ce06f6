package api

import "testing"

func FuzzParsePlace(f *testing.F) {
	for _, text := range []string{"", "1795262400,aaaaaaaaaaaa", "-1,aaaaaaaaaaaa", "1,a", "1099511627776,aaaaaaaaaaaa", ","} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePlace(text)
		if err != nil {
			return
		}
		if again, err := ParsePlace(p.String()); err != nil || again != p || p.Deadline < 0 {
			t.Errorf("%q is %+v, and that is %+v, %v", text, p, again, err)
		}
	})
}
