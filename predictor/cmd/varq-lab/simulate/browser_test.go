package simulate

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/varq-project/varq/test/browser"
)

// onScreens shows the page of TestGoldenComparison on every screen.
func onScreens(t *testing.T, ctx context.Context, look func(browser.Screen)) {
	t.Helper()
	page, err := filepath.Abs(filepath.Join("testdata", comparePage))
	if err != nil {
		t.Fatal(err)
	}
	for _, screen := range browser.Screens {
		if err := chromedp.Do(ctx, screen.Use(), chromedp.Navigate("file://"+page)); err != nil {
			t.Fatal(err)
		}
		look(screen)
	}
}

// TestPageOnScreens: the page is no wider than any screen, and dark on a dark one.
func TestPageOnScreens(t *testing.T) {
	ctx := browser.ForTest(t)
	paper := make(map[bool]string) // by dark
	onScreens(t, ctx, func(screen browser.Screen) {
		paper[screen.Dark] = browser.Ask(t, ctx, chromedp.Evaluate[string](`getComputedStyle(document.body).backgroundColor`))
		if browser.Ask(t, ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > document.documentElement.clientWidth`)) {
			t.Errorf("%s: it is wider than the screen", screen.Name)
		}
	})
	if paper[false] == paper[true] {
		t.Errorf("the paper is %s, dark or light", paper[true])
	}
}

// TestPageIsAccessible: axe-core finds nothing, on a phone and on a wide screen, light and dark.
func TestPageIsAccessible(t *testing.T) {
	ctx, script := browser.ForTest(t), browser.AxeCore(t)
	onScreens(t, ctx, func(screen browser.Screen) {
		for _, v := range browser.Ask(t, ctx, browser.Examine(script)) {
			t.Errorf("%s: %s: %s", screen.Name, v.ID, v.Help)
			for _, n := range v.Nodes {
				t.Logf("%s\n%s", n.HTML, n.Why)
			}
		}
	})
}
