// Package browser runs Debian's Chromium without a screen, to test web pages. It opens pages, takes
// pictures of them, and lets axe-core examine whether the pages are accessible.
package browser

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/varq-project/varq/test/cluster"
)

// packages are the Debian packages that a browser needs. Pictures depend on the font.
var packages = []string{"chromium", "fonts-liberation"}

// patience is how long anything may take before it counts as hanging.
const patience = 5 * time.Minute

// starts is how often a browser is started: now and then one crashes before it shows anything.
const starts = 3

// ForTest starts a browser for a test and ends it with the test. It installs what is missing. It
// skips the test in short mode, and if nothing can be installed.
func ForTest(t testing.TB) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time; not with -short")
	}
	if err := cluster.InstallPackages(t.Context(), "to test pages in a browser", packages...); err != nil {
		t.Skip(err)
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip(err)
	}
	for range starts {
		ctx := start(t, path)
		if err = chromedp.Do(ctx); err == nil {
			return ctx
		}
		t.Log(err)
	}
	t.Fatal(err)
	return nil
}

// start returns a browser that starts with its first action, and ends with the test.
func start(t testing.TB, path string) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx,
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoFirstRun, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Headless,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("lang", "en-GB"),
		chromedp.Flag("font-render-hinting", "none"), chromedp.Env("TZ=UTC", "LANG=C.UTF-8"), chromedp.WSURLReadTimeout(patience),
	)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// Screen is what a page is shown on.
type Screen struct {
	Name          string
	Width, Height int64 // CSS pixels
	Dark          bool
	// Pictured is true of the screens on which pages are to look as they did. The others differ
	// from them in colours alone, or in width.
	Pictured bool
}

// Screens are a phone and a wide screen, each light and dark.
var Screens = []Screen{
	{"phone-light", 360, 740, false, true}, {"phone-dark", 360, 740, true, false}, {"wide-light", 1440, 900, false, false}, {"wide-dark", 1440, 900, true, true},
}

// Use shows what follows on a screen.
func (s Screen) Use() chromedp.Action[chromedp.Void] {
	scheme := "light"
	if s.Dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	return chromedp.Steps(chromedp.EmulateViewport(s.Width, s.Height), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, media)
		return err
	}))
}

// Until waits until an expression of the page's script is true.
func Until(expression string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(patience))
}

// Ask runs an action that has an answer, and ends the test if that fails.
func Ask[T any](t testing.TB, ctx context.Context, action chromedp.Action[T]) T {
	t.Helper()
	answer, err := chromedp.Run(ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}
