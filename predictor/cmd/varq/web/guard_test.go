package web

import (
	"crypto/rand"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// lab is a server with the pages, and a browser that has been let in.
type lab struct {
	*httptest.Server
	varqd   *fakeVarqd
	guard   *guard
	browser *http.Client
}

func newLab(t *testing.T, base string) *lab {
	t.Helper()
	pages, varqd := newFake()
	l := &lab{varqd: varqd, Server: httptest.NewUnstartedServer(nil)}
	entry := &door{token: rand.Text(), opened: func(string) {}}
	l.guard = newGuard(pages.routes, entry, base, "localhost", l.Listener.Addr().String())
	l.Config.Handler, l.Config.MaxHeaderBytes = l.guard, maxHeader
	l.Start()
	t.Cleanup(l.Close)
	l.browser = newBrowser()
	// The browser does not follow what leads on to the pages by itself.
	if status, text := answerOf(t, l.browser, request(http.MethodGet, l.address())); status != http.StatusOK || text != entrance {
		t.Fatalf("the address that is printed: %d %s", status, text)
	}
	if status, text := l.get(t, "/"); status != http.StatusOK || !strings.Contains(text, "When would a new job run?") {
		t.Fatalf("the first page: %d %s", status, text)
	}
	return l
}

// newBrowser returns a browser that has no cookies yet.
func newBrowser() *http.Client { return &http.Client{Jar: must(cookiejar.New(nil))} }

// address is what is printed: it lets in one browser.
func (l *lab) address() string { return l.URL + l.guard.base + "/?token=" + l.guard.door.token }

// pages is where the pages are, without a slash at its end.
func (l *lab) pages() string { return l.URL + l.guard.base + "/" + l.guard.folder }

func request(method, address string) *http.Request {
	return must(http.NewRequest(method, address, nil))
}

// get asks for a page.
func (l *lab) get(t *testing.T, path string) (status int, text string) {
	t.Helper()
	return answerOf(t, l.browser, request(http.MethodGet, l.pages()+path))
}

// post sends a form, with the secret of forms if signed.
func (l *lab) post(t *testing.T, path string, form url.Values, signed bool) (status int, text string) {
	t.Helper()
	if signed {
		form.Set(formParam, l.guard.form)
	}
	r := must(http.NewRequest(http.MethodPost, l.pages()+path, strings.NewReader(form.Encode())))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return answerOf(t, l.browser, r)
}

func answerOf(t *testing.T, browser *http.Client, r *http.Request) (status int, text string) {
	t.Helper()
	answer, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// paths are all that can be asked for.
var paths = []string{"/", "/answer", "/sizes", "/reservations", "/reservation?job=4711", "/honesty", "/cluster", "/varq.css", "/varq.js", "/icon.svg", "/nowhere"}

// Nothing is answered to who has neither the token nor the cookie, nor to who has the cookie and
// not the folder.
func TestNoToken(t *testing.T) {
	l := newLab(t, "")
	before := len(l.varqd.requests())
	refused := func(what string, r *http.Request) {
		t.Helper()
		if status, text := answerOf(t, new(http.Client), r); status != http.StatusUnauthorized || !strings.Contains(text, "varq web") {
			t.Errorf("%s: %d %s", what, status, text)
		}
	}
	for _, path := range paths {
		refused(path, request(http.MethodGet, l.pages()+path))
		r := request(http.MethodGet, l.URL+path)
		r.AddCookie(&http.Cookie{Name: cookieName, Value: l.guard.session})
		refused(path+" with the cookie alone", r)
	}
	token := l.guard.door.token
	for _, token := range []string{"", "x", token[1:], strings.ToLower(token), l.guard.session, l.guard.form, l.guard.folder} {
		refused("token "+token, request(http.MethodGet, l.URL+"/?token="+token))
		refused("token "+token, request(http.MethodGet, l.pages()+"/?token="+token))
	}
	for _, cookie := range []string{"", token, l.guard.form, l.guard.folder, l.guard.session + "x"} {
		r := request(http.MethodGet, l.pages()+"/")
		r.AddCookie(&http.Cookie{Name: cookieName, Value: cookie})
		refused("cookie "+cookie, r)
	}
	if after := l.varqd.requests(); len(after) != before {
		t.Errorf("varqd was asked: %q", after[before:])
	}
}

// The token is exchanged for a cookie that no script and no other site can use, is good for one
// browser, and the user is told of the next.
func TestAdmission(t *testing.T) {
	l := newLab(t, "/node/host/8765")
	var told []string
	l.guard.door.opened = func(next string) { told = append(told, next) }
	first := l.address()
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := browser.Get(first)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	onward := must(answer.Location()).String()
	if answer.StatusCode != http.StatusSeeOther || len(answer.Cookies()) != 0 || onward != strings.Replace(first, "/?", "/"+l.guard.folder+"/?", 1) {
		t.Fatalf("%v %v", answer.Status, answer.Header)
	}
	if answer, err = browser.Get(onward); err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	cookies := answer.Cookies()
	if answer.StatusCode != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("%v %v", answer.Status, answer.Header)
	}
	// Without a path it is for the folder that was asked for.
	if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Value != l.guard.session || c.Path != "" {
		t.Errorf("%+v", c)
	}
	if len(told) != 1 || told[0] != l.guard.door.token || strings.Contains(first, told[0]) {
		t.Errorf("told: %q", told)
	}
	for _, used := range []string{first, onward} {
		if status, text := answerOf(t, newBrowser(), request(http.MethodGet, used)); status != http.StatusUnauthorized || !strings.Contains(text, "has been used") {
			t.Errorf("a second browser: %d %s", status, text)
		}
	}
	if status, text := answerOf(t, newBrowser(), request(http.MethodGet, l.address())); status != http.StatusOK || text != entrance {
		t.Errorf("by the next: %d %s", status, text)
	}
}

// A token is not used up by what is not a window of the user's: what browsers fetch in case she
// goes there, scripts and frames, and not by HEAD.
func TestTokenStays(t *testing.T) {
	l := newLab(t, "")
	for name, value := range map[string]string{
		"Sec-Purpose": "prefetch;prerender", "Purpose": "prefetch", "X-Moz": "prefetch", "Sec-Fetch-Dest": "empty", "sec-fetch-dest": "iframe",
	} {
		r := request(http.MethodGet, l.pages()+"/?token="+l.guard.door.token)
		r.Header.Set(name, value)
		if status, text := answerOf(t, newBrowser(), r); status != http.StatusForbidden || !strings.Contains(text, "in a window") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if status, _ := answerOf(t, newBrowser(), request(http.MethodHead, l.address())); status != http.StatusUnauthorized {
		t.Errorf("HEAD: %d", status)
	}
	r := request(http.MethodGet, l.address())
	r.Header.Set("Sec-Fetch-Dest", "document")
	if status, text := answerOf(t, newBrowser(), r); status != http.StatusOK || text != entrance {
		t.Errorf("then: %d %s", status, text)
	}
}

// Of many browsers that come at once with the same token, one is let in.
func TestTokenOnce(t *testing.T) {
	entry := &door{token: rand.Text(), opened: func(string) {}}
	token, in := entry.token, make(chan bool)
	const all = 20
	for range all {
		go func() { in <- entry.open(token) }()
	}
	n := 0
	for range all {
		if <-in {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d of them", n)
	}
}

// Behind a proxy that takes its part of the path off, the cookie is for the folder as the browser
// sees it.
func TestBehindProxy(t *testing.T) {
	l := newLab(t, "")
	proxy := httptest.NewServer(http.StripPrefix("/rnode/host/8765", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(must(url.Parse(l.URL)))
	}}))
	defer proxy.Close()
	browser, here := newBrowser(), proxy.URL+"/rnode/host/8765/"
	if status, text := answerOf(t, browser, request(http.MethodGet, here+"?token="+l.guard.door.token)); status != http.StatusOK || text != entrance {
		t.Fatalf("%d %s", status, text)
	}
	if status, _ := answerOf(t, browser, request(http.MethodGet, here+l.guard.folder+"/reservations")); status != http.StatusOK {
		t.Error(status)
	}
	for path, want := range map[string]int{"/rnode/host/9999/": 0, "/": 0, "/rnode/host/8765/": 0, "/rnode/host/8765/" + l.guard.folder + "/": 1} {
		if got := browser.Jar.Cookies(must(url.Parse(proxy.URL + path))); len(got) != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// A cookie of the same name that a page behind another port has set does not lock the user out.
func TestStrangeCookie(t *testing.T) {
	l := newLab(t, "")
	r := request(http.MethodGet, l.pages()+"/reservations")
	for _, value := range []string{"evil", l.guard.session, "evil"} {
		r.AddCookie(&http.Cookie{Name: cookieName, Value: value})
	}
	if status, _ := answerOf(t, new(http.Client), r); status != http.StatusOK {
		t.Error(status)
	}
}

// Pages are for windows alone, and not for scripts and frames; what the pages' own script asks for
// is for it.
func TestWindows(t *testing.T) {
	l := newLab(t, "")
	l.varqd.operator = true
	for path, want := range map[string]int{
		"/": http.StatusForbidden, "/reservations": http.StatusForbidden, "/reservation?job=4711&ask=cancel": http.StatusForbidden,
		"/honesty": http.StatusForbidden, "/cluster": http.StatusForbidden, "/answer": http.StatusOK, "/sizes": http.StatusOK, "/varq.js": http.StatusOK,
	} {
		for _, dest := range []string{"empty", "iframe", "embed", "worker"} {
			r := request(http.MethodGet, l.pages()+path)
			r.Header.Set("Sec-Fetch-Dest", dest)
			if status, _ := answerOf(t, l.browser, r); status != want {
				t.Errorf("%s for %s: %d", path, dest, status)
			}
		}
	}
}

// A host that somebody else has made point here is not answered, whatever it sends.
func TestForeignHost(t *testing.T) {
	l := newLab(t, "")
	for host, want := range map[string]int{
		"evil.example": http.StatusForbidden, "evil.example:80": http.StatusForbidden, "localhost.evil.example": http.StatusForbidden, "": http.StatusForbidden,
		"localhost:1": http.StatusOK, "LOCALHOST": http.StatusOK, "127.0.0.1:8765": http.StatusOK, "[::1]:8765": http.StatusOK,
	} {
		r := httptest.NewRequest(http.MethodGet, "/"+l.guard.folder+"/reservations", nil)
		r.Host = host
		r.AddCookie(&http.Cookie{Name: cookieName, Value: l.guard.session})
		w := httptest.NewRecorder()
		if l.guard.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%q: %d", host, w.Code)
		}
	}
}

// Nothing is changed without the secret of this server's forms, not even by a browser that is let
// in.
func TestForeignForm(t *testing.T) {
	l := newLab(t, "")
	for _, path := range []string{"/cancel", "/accept"} {
		for _, form := range []url.Values{{}, {formParam: {""}}, {formParam: {l.guard.folder}}, {formParam: {l.guard.session}}} {
			form.Set(paramJob, "4713")
			form.Set(paramMost, "9")
			if status, text := l.post(t, path, form, false); status != http.StatusForbidden || !strings.Contains(text, "Nothing was changed") {
				t.Errorf("%s %v: %d %s", path, form, status, text)
			}
		}
		if status, _ := l.get(t, path+"?job=4713&form="+l.guard.form); status == http.StatusOK {
			t.Errorf("GET %s: %d", path, status)
		}
	}
	form := url.Values{formParam: {l.guard.form}, paramJob: {"4713"}}
	r := must(http.NewRequest(http.MethodPost, l.pages()+"/cancel", strings.NewReader(form.Encode())))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if status, text := answerOf(t, l.browser, r); status != http.StatusForbidden || !strings.Contains(text, "another site") {
		t.Errorf("with the secret, from another site: %d %s", status, text)
	}
	if asked := l.varqd.requests(); slices.ContainsFunc(asked, func(s string) bool { return strings.HasPrefix(s, "scancel") || strings.HasPrefix(s, "accept") }) {
		t.Errorf("%q", asked)
	}
}

// What comes is bounded, and so are the methods.
func TestBounds(t *testing.T) {
	l := newLab(t, "")
	if status, _ := l.post(t, "/cancel", url.Values{paramJob: {strings.Repeat("4", maxBody)}}, true); status != http.StatusBadRequest {
		t.Errorf("a long form: %d", status)
	}
	if status, _ := l.get(t, "/?nodes="+strings.Repeat("1", 2*maxHeader)); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a long address: %d", status)
	}
	if status, _ := answerOf(t, l.browser, request(http.MethodDelete, l.pages()+"/")); status != http.StatusMethodNotAllowed {
		t.Errorf("DELETE: %d", status)
	}
}

// Every answer forbids inline scripts, frames and caches.
func TestHeaders(t *testing.T) {
	l := newLab(t, "")
	for _, path := range paths {
		answer, err := l.browser.Get(l.pages() + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		for name, want := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"} {
			if got := answer.Header.Get(name); got != want {
				t.Errorf("%s: %s: %q", path, name, got)
			}
		}
	}
	if strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Error(policy)
	}
}

// Below a path that a proxy adds, all links are relative, and nothing is outside.
func TestBasePath(t *testing.T) {
	l := newLab(t, "/node/host/8765")
	for _, path := range paths[:len(paths)-1] {
		status, text := l.get(t, path)
		if status != http.StatusOK && path != "/cluster" {
			t.Errorf("%s: %d", path, status)
		}
		if strings.Contains(text, `="/`) {
			t.Errorf("%s has a link that is not relative: %s", path, text)
		}
	}
	for path, want := range map[string]int{
		"/": http.StatusNotFound, "/" + l.guard.folder + "/reservations": http.StatusNotFound, "/node/host/87650/": http.StatusNotFound,
		"/node/host/8765": http.StatusUnauthorized, "/node/host/8765/reservations": http.StatusUnauthorized,
		"/node/host/8765/" + l.guard.folder: http.StatusOK,
	} {
		if status, _ := answerOf(t, l.browser, request(http.MethodGet, l.URL+path)); status != want {
			t.Errorf("%s: %d", path, status)
		}
	}
}
