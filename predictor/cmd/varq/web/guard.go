package web

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"
)

// Names of what proves whose request it is.
const (
	tokenParam = "token" // of the address that is printed
	formParam  = "form"  // of each form that changes something
	cookieName = "varq-web-"
)

// maxBody bounds the body of a request, in bytes.
const maxBody = 4 << 10

// guard lets through the requests of the user alone: of a browser that once had the address printed for her, and that
// asks this host and not one that another page has made up for it.
//
// Invariant: nothing but an error is answered to who does not prove to be her, and nothing is changed but by a form of
// these pages.
type guard struct {
	next  http.Handler // asked for paths below base
	base  string       // "" or a path without a slash at its end
	hosts []string     // by which it may be asked, in lower case and without a port
	// token is in the address that is printed, session in the browser's cookie, and form in the forms. All are random, and
	// none tells another.
	token, session, form string
	cookie               string
}

// newGuard returns a guard with a token before next, which serves below base and is asked at address, besides localhost.
// listens is HOST:PORT.
func newGuard(next func(form string) http.Handler, token, base, address, listens string) *guard {
	host, port, _ := net.SplitHostPort(listens)
	g := &guard{
		base: base, hosts: []string{"localhost", "127.0.0.1", "::1", strings.ToLower(address)},
		token: token, session: rand.Text(), form: rand.Text(),
		cookie: cookieName + port, // browsers take all ports of a host for one
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		g.hosts = append(g.hosts, host)
	}
	g.next = next(g.form)
	return g
}

// policy lets pages load what this server has, and nothing else: no inline script, no other host's page around it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		w.Header().Set(name, value)
	}
	path, below := strings.CutPrefix(r.URL.Path, g.base)
	switch {
	case !g.asked(r.Host):
		http.Error(w, "This is not a page of the host that you ask for. Open the address that 'varq web' has printed.", http.StatusForbidden)
	case !below || path != "" && path[0] != '/':
		http.Error(w, "There is no such page. All pages are below "+g.base+"/ (--base-path of 'varq web').", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, HEAD, POST")
		http.Error(w, "These pages know GET and POST alone.", http.StatusMethodNotAllowed)
	case r.Method != http.MethodPost && r.URL.Query().Has(tokenParam):
		g.admit(w, r)
	case !g.known(r):
		http.Error(w, "These pages are for the user who has started 'varq web'. Open the whole address that it has printed, with its token.", http.StatusUnauthorized)
	case path == "":
		w.Header().Set("Location", g.base+"/")
		w.WriteHeader(http.StatusSeeOther)
	default:
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if r.Method == http.MethodPost && !g.ours(w, r) {
			return
		}
		http.StripPrefix(g.base, g.next).ServeHTTP(w, r)
	}
}

// asked reports whether host, of a request, is one by which it may be asked, at any port: a tunnel may begin at another.
func (g *guard) asked(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return slices.Contains(g.hosts, strings.ToLower(strings.Trim(host, "[]")))
}

// admit gives the browser that has the token its cookie, and sends it to the page without the token.
func (g *guard) admit(w http.ResponseWriter, r *http.Request) {
	if !same(r.URL.Query().Get(tokenParam), g.token) {
		http.Error(w, "This is not the token of the 'varq web' that runs now. Open the address that it has printed.", http.StatusUnauthorized)
		return
	}
	// Without a path it is for the folder of this page, as the browser sees it, whatever a proxy makes of that.
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.session, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Location", "./")
	w.WriteHeader(http.StatusSeeOther)
}

// known reports whether a request has the cookie.
func (g *guard) known(r *http.Request) bool {
	cookie, err := r.Cookie(g.cookie)
	return err == nil && same(cookie.Value, g.session)
}

// ours reports whether a request comes from a form of these pages. Otherwise it answers.
func (g *guard) ours(w http.ResponseWriter, r *http.Request) bool {
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form is too long, or not a form.", http.StatusBadRequest)
		return false
	}
	if new(http.CrossOriginProtection).Check(r) != nil {
		http.Error(w, "Your browser says that another site has sent this form. Nothing was changed.", http.StatusForbidden)
		return false
	}
	if !same(r.PostForm.Get(formParam), g.form) {
		http.Error(w, "This form is not of the 'varq web' that runs now. Nothing was changed: load the page again.", http.StatusForbidden)
		return false
	}
	return true
}

// same compares secrets, in a time that tells nothing of them.
func same(got, want string) bool { return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1 }
