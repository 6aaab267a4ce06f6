package web

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	chromium "github.com/varq-project/varq/test/browser"
)

// shown are the pages that are looked at, by name.
var shown = []struct{ name, path string }{
	{"newjob", "/?nodes=4&time=1:00:00&begin-by=2026-11-21T17:00&prob=0.8"},
	{"held", "/?nodes=4&time=1:00:00&begin-by=2026-11-21T17:00&work=then&prob=0.8"},
	{"end", "/?nodes=1&time=1:00:00&begin-by=2026-11-22T01:00&work=end&prob=0.8"},
	{"refused", "/?nodes=16&time=2:00:00&begin-by=2026-11-21T17:00&work=then&prob=0.95"},
	{"mistaken", "/?nodes=0&begin-by=2026-11-21T17:00"},
	{"waiting", "/waiting?user=*"},
	{"waiting-job", "/waiting-job?job=4711"},
	{"reservations", "/reservations"},
	{"reservation", "/reservation?job=4655"},
	{"cancel", "/reservation?job=4711&ask=cancel"},
	{"accept", "/reservation?job=4713&ask=accept"},
	{"honesty", "/honesty"},
	{"cluster", "/cluster"},
}

// open starts a browser that is let in to a lab.
func open(t *testing.T) (context.Context, *lab) {
	t.Helper()
	ctx := chromium.ForTest(t)
	l := newLab(t, "")
	l.varqd.operator = true
	do(t, ctx, chromedp.Navigate(l.address()), chromedp.WaitVisible(chromedp.CSS("#answer figure")))
	return ctx, l
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// Everybody can use the pages: axe-core finds nothing, on a phone and on a wide screen, light and
// dark. They look as they did.
func TestScreens(t *testing.T) {
	ctx, l := open(t)
	script := chromium.AxeCore(t)
	for _, screen := range chromium.Screens {
		for _, page := range shown {
			do(t, ctx, screen.Use(), chromedp.Navigate(l.pages()+page.path))
			for _, v := range chromium.Ask(t, ctx, chromium.Examine(script)) {
				t.Errorf("%s, %s: %s: %s", page.name, screen.Name, v.ID, v.Help)
				for _, n := range v.Nodes {
					t.Logf("%s\n%s", n.HTML, n.Why)
				}
			}
			if chromium.Ask(t, ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > document.documentElement.clientWidth`)) {
				t.Errorf("%s, %s: it is wider than the screen", page.name, screen.Name)
			}
			// Tables in fold-outs that are closed are not laid out.
			if strings.HasPrefix(screen.Name, "phone") && chromium.Ask(t, ctx, chromedp.Evaluate[bool](`[...document.querySelectorAll(":not(details) > .wide")].some((w) => w.scrollWidth > w.clientWidth)`)) {
				t.Errorf("%s, %s: a table is wider than the screen", page.name, screen.Name)
			}
			if screen.Pictured {
				chromium.SameAs(t, filepath.Join("testdata", page.name+"-"+screen.Name+".png"), chromium.Ask(t, ctx, chromedp.FullScreenshot(100)))
			}
		}
	}
}

// As the form changes, the picture does, and the address; the line can be copied.
func TestLive(t *testing.T) {
	ctx, l := open(t)
	line := chromedp.Evaluate[string](`document.querySelector("#answer polyline").getAttribute("points")`)
	_, err := chromedp.CallBrowser(ctx, browser.SetPermission, browser.SetPermissionParams{
		Permission: &browser.PermissionDescriptor{Name: "clipboard-read"}, Setting: browser.PermissionSettingGranted, Origin: l.URL,
	})
	if err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(l.pages()+"/?nodes=4&time=1:00:00&begin-by=2026-11-21T17:00&work=then&prob=0.8"))
	before := chromium.Ask(t, ctx, line)
	do(t, ctx, chromedp.Clear(chromedp.CSS("#time")), chromedp.SendKeys(chromedp.CSS("#time"), "20"),
		chromium.Until(`document.querySelector("#answer code")?.textContent.includes("--time=00:20:00")`),
		chromium.Until(`document.getElementById("news").textContent.startsWith("Can be promised")`))
	if after := chromium.Ask(t, ctx, line); after == before {
		t.Errorf("the picture stays %q", before)
	}
	if address := chromium.Ask(t, ctx, chromedp.Location()); !strings.Contains(address, "time=20&") {
		t.Errorf("the address is %s", address)
	}
	do(t, ctx, chromedp.Click(chromedp.CSS("#answer button.copy")), chromium.Until(`document.querySelector("#answer button.copy").textContent != "Copy"`))
	copied := chromium.Ask(t, ctx, chromedp.Evaluate[string](`navigator.clipboard.readText().catch(() => getSelection().toString())`, chromedp.EvalAwaitPromise))
	if want := "sbatch --nodes=4 --time=00:20:00 --begin-by=2026-11-21T17:00:00 --prob=0.8 job.sh"; copied != want {
		t.Errorf("copied: %q, want %q", copied, want)
	}
	wrong := `document.getElementById("nodes").ariaInvalid == "true" && document.getElementById("nodes-wrong").textContent.includes("not a number")`
	do(t, ctx, chromedp.Clear(chromedp.CSS("#nodes")), chromedp.SendKeys(chromedp.CSS("#nodes"), "0"),
		chromium.Until(`document.querySelector("#answer .problem")?.textContent.includes("Nodes:") && `+wrong))
	do(t, ctx, chromedp.SendKeys(chromedp.CSS("#nodes"), "2"), chromium.Until(`document.querySelector("#answer code") && !(`+wrong+`)`))
	do(t, ctx, chromedp.Navigate(l.pages()+"/reservations"), chromium.Until(`new URLSearchParams(document.querySelector("nav a").search).get("nodes") == 2`))
}

// A cancellation is asked for, confirmed and told, by the keyboard.
func TestCancelByKeyboard(t *testing.T) {
	ctx, l := open(t)
	do(t, ctx,
		chromedp.Navigate(l.pages()+"/reservations"), chromedp.Focus(chromedp.CSS(`a[aria-label^="Cancel job 4711"]`)), chromedp.KeyEvent("\r"),
		chromedp.WaitVisible(chromedp.CSS("section.confirm button")), chromedp.Focus(chromedp.CSS("section.confirm button")), chromedp.KeyEvent("\r"),
		chromedp.WaitVisible(chromedp.CSS(".done")),
	)
	if asked := l.varqd.requests(); asked[len(asked)-1] != "scancel 4711" {
		t.Errorf("%q", asked)
	}
}
