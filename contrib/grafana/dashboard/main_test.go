package main

import (
	"os"
	"testing"
)

// TestGenerated: varq.json is what the program writes.
func TestGenerated(t *testing.T) {
	want, err := render()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../varq.json")
	if err != nil || string(got) != string(want) {
		t.Error("contrib/grafana/varq.json is stale: run go generate ./contrib/grafana/...", err)
	}
}
