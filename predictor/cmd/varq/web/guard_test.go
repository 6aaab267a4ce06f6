package web

import (
	"crypto/rand"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
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
	l.guard = newGuard(pages.routes, rand.Text(), base, "localhost", l.Listener.Addr().String())
	l.Config.Handler, l.Config.MaxHeaderBytes = l.guard, maxHeader
	l.Start()
	t.Cleanup(l.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	l.browser = &http.Client{Jar: jar}
	if status, text := l.get(t, "/?token="+l.guard.token); status != http.StatusOK || !strings.Contains(text, "When would it run?") {
		t.Fatalf("the address that is printed: %d %s", status, text)
	}
	return l
}

// get asks for a page below the base path.
func (l *lab) get(t *testing.T, path string) (status int, text string) {
	t.Helper()
	return answerOf(t, l.browser, must(http.NewRequest(http.MethodGet, l.URL+l.guard.base+path, nil)))
}

// post sends a form, with the secret of forms if signed.
func (l *lab) post(t *testing.T, path string, form url.Values, signed bool) (status int, text string) {
	t.Helper()
	if signed {
		form.Set(formParam, l.guard.form)
	}
	r := must(http.NewRequest(http.MethodPost, l.URL+l.guard.base+path, strings.NewReader(form.Encode())))
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

// Nothing is answered to who has neither the token nor the cookie.
func TestNoToken(t *testing.T) {
	l := newLab(t, "")
	before := len(l.varqd.requests())
	for _, path := range paths {
		status, text := answerOf(t, new(http.Client), must(http.NewRequest(http.MethodGet, l.URL+path, nil)))
		if status != http.StatusUnauthorized || !strings.Contains(text, "varq web") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	for _, token := range []string{"", "x", l.guard.token[1:], strings.ToLower(l.guard.token), l.guard.session, l.guard.form} {
		status, _ := answerOf(t, new(http.Client), must(http.NewRequest(http.MethodGet, l.URL+"/?token="+token, nil)))
		if status != http.StatusUnauthorized {
			t.Errorf("token %q: %d", token, status)
		}
	}
	for _, cookie := range []string{"", l.guard.token, l.guard.form, l.guard.session + "x"} {
		r := must(http.NewRequest(http.MethodGet, l.URL+"/", nil))
		r.AddCookie(&http.Cookie{Name: l.guard.cookie, Value: cookie})
		if status, _ := answerOf(t, new(http.Client), r); status != http.StatusUnauthorized {
			t.Errorf("cookie %q: %d", cookie, status)
		}
	}
	if after := l.varqd.requests(); len(after) != before {
		t.Errorf("varqd was asked: %q", after[before:])
	}
}

// The token is exchanged for a cookie that no script and no other site can use, and leaves the address.
func TestAdmission(t *testing.T) {
	l := newLab(t, "")
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := browser.Get(l.URL + "/?token=" + l.guard.token)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	cookies := answer.Cookies()
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "./" || len(cookies) != 1 {
		t.Fatalf("%v %v", answer.Status, answer.Header)
	}
	if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Value == l.guard.token {
		t.Errorf("%+v", c)
	}
}

// A host that somebody else has made point here is not answered, whatever it sends.
func TestForeignHost(t *testing.T) {
	l := newLab(t, "")
	for host, want := range map[string]int{
		"evil.example": http.StatusForbidden, "evil.example:80": http.StatusForbidden, "localhost.evil.example": http.StatusForbidden, "": http.StatusForbidden,
		"localhost:1": http.StatusOK, "LOCALHOST": http.StatusOK, "127.0.0.1:8765": http.StatusOK, "[::1]:8765": http.StatusOK,
	} {
		r := httptest.NewRequest(http.MethodGet, "/reservations", nil)
		r.Host = host
		r.AddCookie(&http.Cookie{Name: l.guard.cookie, Value: l.guard.session})
		w := httptest.NewRecorder()
		if l.guard.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%q: %d", host, w.Code)
		}
	}
}

// Nothing is changed without the secret of this server's forms, not even by a browser that is let in.
func TestForeignForm(t *testing.T) {
	l := newLab(t, "")
	for _, path := range []string{"/cancel", "/accept"} {
		for _, form := range []url.Values{{}, {formParam: {""}}, {formParam: {l.guard.token}}, {formParam: {l.guard.session}}} {
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
	r := must(http.NewRequest(http.MethodPost, l.URL+"/cancel", strings.NewReader(form.Encode())))
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
	if status, _ := answerOf(t, l.browser, must(http.NewRequest(http.MethodDelete, l.URL+"/", nil))); status != http.StatusMethodNotAllowed {
		t.Errorf("DELETE: %d", status)
	}
}

// Every answer forbids inline scripts, frames and caches.
func TestHeaders(t *testing.T) {
	l := newLab(t, "")
	for _, path := range paths {
		answer, err := l.browser.Get(l.URL + path)
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
	for path, want := range map[string]int{"/": http.StatusNotFound, "/reservations": http.StatusNotFound, "/node/host/87650/": http.StatusNotFound, "/node/host/8765": http.StatusOK} {
		if status, _ := answerOf(t, l.browser, must(http.NewRequest(http.MethodGet, l.URL+path, nil))); status != want {
			t.Errorf("%s: %d", path, status)
		}
	}
}
