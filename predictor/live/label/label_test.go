package label

import "testing"

func TestValues(t *testing.T) {
	v := Values{Most: 2}
	for i, step := range [][2]string{{"a", "a"}, {"b", "b"}, {"c", Rest}, {"a", "a"}, {"", Rest}, {"c", Rest}, {"b", "b"}} {
		if got := v.Of(step[0]); got != step[1] {
			t.Errorf("step %d: %q has the value %q", i, step[0], got)
		}
	}
}
