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
	cookieName = "varq-web"
)

// maxBody bounds the body of a request, in bytes.
const maxBody = 4 << 10

// guard lets through the requests of the user alone: of a browser that once had the address printed
// for her, and that asks this host and not one that another page has made up for it.
//
// Browsers send a cookie to all ports of a host, behind which other users may listen, and take all
// that a proxy shows for one site, other users' pages too. So the pages are in a folder that only
// such a browser knows, and the cookie is for that folder.
//
// Invariant: nothing but an error is answered to who does not prove to be her, and nothing is
// changed but by a form of these pages.
type guard struct {
	next  http.Handler // asked for paths below base and the folder
	base  string       // "" or a path without a slash at its end
	hosts []string     // by which it may be asked, in lower case and without a port
	door  *door
	// folder is the first word of each page's path below base, session in the browser's cookie, and
	// form in the forms. All are random, and none tells another.
	folder, session, form string
}

// newGuard returns a guard before next, which serves below base and is asked at address, besides
// localhost. Browsers come in by the door. listens is HOST:PORT.
func newGuard(next func(form string) http.Handler, d *door, base, address, listens string) *guard {
	host, _, _ := net.SplitHostPort(listens)
	g := &guard{
		base: base, hosts: []string{"localhost", "127.0.0.1", "::1", strings.ToLower(address)}, door: d,
		folder: rand.Text(), session: rand.Text(), form: rand.Text(),
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		g.hosts = append(g.hosts, host)
	}
	g.next = next(g.form)
	return g
}

// policy lets pages load what this server has, and nothing else: no inline script, no other host's
// page around it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		// Not even a page that the same proxy shows keeps hold of a window with one of these.
		"Cross-Origin-Opener-Policy": "noopener-allow-popups", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		w.Header().Set(name, value)
	}
	path, below := strings.CutPrefix(r.URL.Path, g.base)
	folder, page, within := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	inside := same(folder, g.folder)
	switch {
	case !g.asked(r.Host):
		http.Error(w, "This is not a page of the host that you ask for. Open the address that 'varq web' has printed.", http.StatusForbidden)
	case !below || path != "" && path[0] != '/':
		http.Error(w, "There is no such page. All pages are below "+g.base+"/ (--base-path of 'varq web').", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, HEAD, POST")
		http.Error(w, "These pages know GET and POST alone.", http.StatusMethodNotAllowed)
	case r.Method == http.MethodGet && r.URL.Query().Has(tokenParam):
		g.admit(w, r, inside && within && page == "")
	case !inside || !g.known(r):
		http.Error(w, "These pages are for the user who has started 'varq web'. Open the whole address that it has printed last, with its token.", http.StatusUnauthorized)
	case !within:
		w.Header().Set("Location", "./"+g.folder+"/")
		w.WriteHeader(http.StatusSeeOther)
	default:
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if r.Method == http.MethodPost && !g.ours(w, r) {
			return
		}
		http.StripPrefix(g.base+"/"+g.folder, g.next).ServeHTTP(w, r)
	}
}

// asked reports whether host, of a request, is one by which it may be asked, at any port: a tunnel
// may begin at another.
func (g *guard) asked(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return slices.Contains(g.hosts, strings.ToLower(strings.Trim(host, "[]")))
}

// known reports whether a request has the cookie. Pages behind other ports can add cookies of that
// name.
func (g *guard) known(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(cookieName), func(c *http.Cookie) bool { return same(c.Value, g.session) })
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
