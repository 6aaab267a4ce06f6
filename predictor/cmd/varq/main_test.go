package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestLight: users of a cluster get no experiments, and none of what made varq twice as large.
func TestLight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		for _, heavy := range []string{
			"github.com/varq-project/varq/predictor/trial", "github.com/varq-project/varq/predictor/cmd/varq-lab",
			"gonum.org/v1/plot", "gonum.org/v1/gonum/lapack", "gonum.org/v1/gonum/blas", "github.com/prometheus", "google.golang.org",
		} {
			if strings.HasPrefix(pkg, heavy) {
				t.Errorf("varq needs %s", pkg)
			}
		}
	}
}
