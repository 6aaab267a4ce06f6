package web

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	chromium "github.com/varq-project/varq/test/browser"
)

// eve is another user's server, which notes what browsers send it.
type eve struct {
	page, opener string // her page, and its Cross-Origin-Opener-Policy, if any

	mu   sync.Mutex
	seen []string // paths and cookies
}

func (e *eve) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = append(e.seen, r.URL.Path+" "+r.Header.Get("Cookie"))
	w.Header().Set("Content-Type", "text/html")
	if e.opener != "" {
		w.Header().Set("Cross-Origin-Opener-Policy", e.opener)
	}
	_, _ = io.WriteString(w, e.page)
}

// unharmed checks that nothing was done in the user's name.
func (l *lab) unharmed(t *testing.T) {
	t.Helper()
	if asked := l.varqd.requests(); slices.ContainsFunc(asked, func(s string) bool { return strings.Contains(s, "cancel") || strings.HasPrefix(s, "accept") }) {
		t.Errorf("varqd was asked: %q", asked)
	}
}

// Another user of the host listens at a port of her own. Browsers take that for the same site, and
// yet she gets no cookie of the pages, whatever her page asks for.
func TestOtherPort(t *testing.T) {
	ctx, l := open(t)
	hers := &eve{page: fmt.Sprintf(`<img src="/image"><img src="/reservations"><iframe src="/framed"></iframe>
<img src="%[1]s/reservations"><iframe src="%[1]s/reservations"></iframe>
<iframe name="there"></iframe><form id="form" method="post" action="%[1]s/cancel" target="there"><input name="job" value="4711"></form>
<script>document.getElementById("form").submit(); addEventListener("load", () => fetch("/fetched").then(() => document.body.insertAdjacentHTML("beforeend", "<p id=done>done</p>")))</script>`, l.URL)}
	evil := httptest.NewServer(hers)
	defer evil.Close()
	// localhost is another site than 127.0.0.1, such as that of her mail with the link.
	outside := httptest.NewServer(&eve{page: fmt.Sprintf(`<a id="go" href="%s/">look</a>`, evil.URL)})
	defer outside.Close()
	do(t, ctx, chromedp.Navigate(strings.Replace(outside.URL, "127.0.0.1", "localhost", 1)), chromedp.Click(chromedp.CSS("#go")),
		chromedp.WaitVisible(chromedp.CSS("#done")))
	hers.mu.Lock()
	defer hers.mu.Unlock()
	for _, path := range []string{"/ ", "/image ", "/reservations ", "/framed ", "/fetched "} {
		if !slices.Contains(hers.seen, path) {
			t.Errorf("%s: she saw %q", path, hers.seen)
		}
	}
	if cookies := strings.Join(hers.seen, "\n"); strings.Contains(cookies, cookieName) {
		t.Errorf("she has the cookie: %s", cookies)
	}
	l.unharmed(t)
}

// Who follows the printed address from a page of another site, as from a terminal in the browser,
// is let in.
func TestFromOtherSite(t *testing.T) {
	ctx, l := open(t)
	outside := httptest.NewServer(&eve{page: fmt.Sprintf(`<a id="go" href=%q>open</a>`, l.address())})
	defer outside.Close()
	do(t, ctx, chromedp.Navigate(strings.Replace(outside.URL, "127.0.0.1", "localhost", 1)), chromedp.Click(chromedp.CSS("#go")),
		chromedp.WaitVisible(chromedp.CSS("#answer figure")))
}

// herScript reads what is at an address by all means that a page has, into got.
const herScript = `<button id="go">look</button><script>
const shown = (w) => {
  try {
    if (w.document.readyState != "complete" || w.location.href == "about:blank") return "";
    return w.location.href + w.document.documentElement.outerHTML;
  } catch { return ""; }
};
const sleep = () => new Promise((done) => setTimeout(done, 20));
let got = "";
document.getElementById("go").onclick = async () => {
  const popup = open(%[1]q);
  const frame = document.createElement("iframe");
  const loaded = new Promise((done) => frame.onload = done);
  frame.src = %[1]q;
  document.body.append(frame);
  await loaded;
  got += shown(frame.contentWindow);
  const answer = await fetch(%[1]q);
  got += answer.url.replace(%[1]q, "") + await answer.text();
  while (!popup.closed && !shown(popup)) await sleep();
  if (!popup.closed) got += shown(popup);
  document.body.insertAdjacentHTML("beforeend", "<p id=done>done</p>");
};
</script>`

// Open OnDemand shows the apps of all users as one origin. A page of another user's app reads
// nothing of the pages, not even if it knows their addresses, as from the card, and so has no form
// of theirs.
func TestOnDemandNeighbour(t *testing.T) {
	ctx := chromium.ForTest(t)
	l := newLab(t, "/node/host/1")
	hers := new(eve)
	evil := httptest.NewServer(hers)
	defer evil.Close()
	mux := http.NewServeMux()
	for path, at := range map[string]string{"/node/host/1/": l.URL, "/node/host/2/": evil.URL} {
		mux.Handle(path, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(must(url.Parse(at))) }})
	}
	portal := httptest.NewServer(mux)
	defer portal.Close()
	there := func(address string) string { return strings.Replace(address, l.URL, portal.URL, 1) }
	do(t, ctx, chromedp.Navigate(there(l.address())), chromedp.WaitVisible(chromedp.CSS("#answer figure")))
	read := func(address string) string {
		hers.mu.Lock()
		hers.page = fmt.Sprintf(herScript, address)
		hers.mu.Unlock()
		do(t, ctx, chromedp.Navigate(portal.URL+"/node/host/2/"), chromedp.Click(chromedp.CSS("#go")), chromedp.WaitVisible(chromedp.CSS("#done")))
		return chromium.Ask(t, ctx, chromedp.Evaluate[string](`got`))
	}
	if got := read(portal.URL + "/node/host/2/other"); strings.Count(got, "look") != 3 {
		t.Fatalf("her script does not read her own pages: %s", got)
	}
	for _, hers.opener = range []string{"", "same-origin", "noopener-allow-popups"} {
		for _, address := range []string{there(l.address()), there(l.pages()) + "/reservation?job=4711&ask=cancel"} {
			got := strings.ReplaceAll(read(address), address, "")
			for _, secret := range []string{l.guard.folder, l.guard.form, "4711"} {
				if strings.Contains(got, secret) {
					t.Errorf("from a page with the policy %q, of %s she reads %s", hers.opener, address, got)
				}
			}
		}
	}
	hers.mu.Lock()
	hers.page = fmt.Sprintf(`<form id="form" method="post" action="%s/cancel"><input name="job" value="4711"><button id="go">look</button></form>`, there(l.pages()))
	hers.mu.Unlock()
	do(t, ctx, chromedp.Navigate(portal.URL+"/node/host/2/"), chromedp.Click(chromedp.CSS("#go")), chromedp.WaitVisible(chromedp.CSS("pre")))
	if said := chromium.Ask(t, ctx, chromedp.Evaluate[string](`document.body.textContent`)); !strings.Contains(said, "Nothing was changed") {
		t.Error(said)
	}
	l.unharmed(t)
}

// Users give jobs any name. That of another one's job is text to these pages, has no characters
// that change how others are read, is cut off in lists, and makes no page wider than its screen.
func TestHostileName(t *testing.T) {
	ctx, l := open(t)
	const script = `<script>document.title = "hers"</script><img src=x onerror="document.title = 'hers'"></svg>`
	all := queue()
	for i := range all {
		all[i].Name = script + "\u202e\x1b[31m" + strings.Repeat("long", 1000)
		all[i].Reason, all[i].Tasks = script, script
	}
	l.varqd.waiting = all
	for path, most := range map[string]int{"/waiting?user=*": 20_000, "/waiting-job?job=4711": 10_000} {
		_, text := l.get(t, path)
		if len(text) > most {
			t.Errorf("%s has %d bytes", path, len(text))
		}
		if strings.ContainsAny(text, "\u202e\x1b") {
			t.Errorf("%s has characters that are not printed", path)
		}
		do(t, ctx, chromium.Screens[0].Use(), chromedp.Navigate(l.pages()+path))
		if n := chromium.Ask(t, ctx, chromedp.Evaluate[int](`document.querySelectorAll("main script, main img").length`)); n != 0 {
			t.Errorf("%s: %d elements are hers", path, n)
		}
		if title := chromium.Ask(t, ctx, chromedp.Title()); strings.Contains(title, "hers") {
			t.Errorf("%s: her script ran", path)
		}
		if chromium.Ask(t, ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > document.documentElement.clientWidth`)) {
			t.Errorf("%s: it is wider than the screen", path)
		}
	}
}
