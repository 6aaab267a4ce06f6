package score

import "testing"

func TestPublicClass(t *testing.T) {
	for class, want := range map[string]string{
		"partition=batch nodes=3-4 limit=1h-2h":      "partition=batch nodes=3-4 limit=1h-2h",
		"partition=batch account=physics user=alice": "partition=batch",
		"user=alice": "",
		"all jobs":   "all jobs",
	} {
		if got := PublicClass(class); got != want {
			t.Errorf("PublicClass(%q) = %q, want %q", class, got, want)
		}
	}
}
