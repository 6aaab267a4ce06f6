package browser

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/varq-project/varq/test/cluster"
)

// The version of axe-core on the npm registry, and what its script is.
const (
	axeVersion = "4.14.1"
	axeSHA256  = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
)

// AxeCore returns the script of axe-core. It fetches that by npm into the folder build, once. It
// skips the test if it cannot.
func AxeCore(t testing.TB) string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	folder := filepath.Join(filepath.Dir(here), "..", "..", "build", "axe-core-"+axeVersion)
	file := filepath.Join(folder, "package", "axe.min.js")
	script, err := os.ReadFile(file)
	if err != nil {
		if err := fetchAxe(t, folder); err != nil {
			t.Skipf("axe-core cannot be fetched: %v", err)
		}
		if script, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(script)); sum != axeSHA256 {
		t.Fatalf("%s is not axe-core %s: its SHA-256 is %s", file, axeVersion, sum)
	}
	return string(script)
}

// fetchAxe unpacks axe-core into a folder. Tests that do so at the same time do not disturb each
// other.
func fetchAxe(t testing.TB, folder string) error {
	if _, err := exec.LookPath("npm"); err != nil {
		if err := cluster.InstallPackages(t.Context(), "to fetch axe-core", "npm"); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(folder), "axe-core-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	for _, command := range [][]string{{"npm", "pack", "--silent", "axe-core@" + axeVersion}, {"tar", "-xzf", "axe-core-" + axeVersion + ".tgz"}} {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Dir = fresh
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, out)
		}
	}
	if err := os.Rename(fresh, folder); err != nil && !os.IsExist(err) {
		if _, other := os.Stat(folder); other != nil {
			return err
		}
	}
	return nil
}

// Violation is a rule of axe-core's that a page breaks.
type Violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML string `json:"html"`
		Why  string `json:"failureSummary"`
	} `json:"nodes"`
}

// Examine has the script of axe-core examine the page that is shown.
func Examine(script string) chromedp.Action[[]Violation] {
	return func(ctx context.Context, t *chromedp.Target) ([]Violation, error) {
		if _, err := chromedp.Evaluate[chromedp.Void](script)(ctx, t); err != nil {
			return nil, err
		}
		return chromedp.Evaluate[[]Violation](`axe.run().then(r => r.violations)`, chromedp.EvalAwaitPromise)(ctx, t)
	}
}
