package api

import "testing"

func TestPlanInComment(t *testing.T) {
	for comment, want := range map[string]string{
		"varq:abcdefgh2345":                          "abcdefgh2345",
		"nightly run varq:abcdefgh2345":              "abcdefgh2345",
		"varq:aaaaaaaaaaaa again varq:bbbbbbbbbbbb ": "bbbbbbbbbbbb",
		"":                   "",
		"varq:":              "",
		"varq:short":         "",
		"varq:ABCDEFGH2345":  "",
		"xvarq:abcdefgh2345": "",
	} {
		if got, ok := PlanInComment(comment); got != want || ok != (want != "") {
			t.Errorf("PlanInComment(%q) = %q, %v, want %q", comment, got, ok, want)
		}
	}
}

func TestNewPlanID(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewPlanID()
		if !ValidPlanID(id) || seen[id] {
			t.Fatalf("NewPlanID() = %q: invalid or seen before", id)
		}
		seen[id] = true
	}
}
