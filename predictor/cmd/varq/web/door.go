package web

import (
	"crypto/rand"
	"io"
	"net/http"
	"strings"
	"sync"
)

// door lets browsers in: each token one browser, once. A token that stays behind, in a history or
// among the arguments of a browser's process, which everybody on the host can read, is of no use
// then.
type door struct {
	mu    sync.Mutex
	token string
	// opened is told the next token when a browser has come in. It is not called twice at once.
	opened func(next string)
}

func (d *door) fits(token string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return same(token, d.token)
}

// open reports whether a token fits, and changes it if it does.
func (d *door) open(token string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !same(token, d.token) {
		return false
	}
	d.token = rand.Text()
	d.opened(d.token)
	return true
}

// entrance leads on to the pages. It does so by itself and not by a redirection: browsers would
// follow that without the cookie if the user has come from another site, as from a terminal that is
// a page.
const entrance = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=./">
<title>varq</title>
<p><a href="./">To varq's pages</a></p>
</html>
`

// admit gives the browser that has the token its cookie, and sends it to the pages. That happens in
// the folder of the pages: the cookie has no path, and so is for that folder as the browser sees
// it, whatever a proxy makes of paths.
func (g *guard) admit(w http.ResponseWriter, r *http.Request, inside bool) {
	token := r.URL.Query().Get(tokenParam)
	switch {
	case !inWindow(r):
		// The token stays good.
		http.Error(w, "The address that 'varq web' has printed is to be opened in a window of its own.", http.StatusForbidden)
	case !inside && g.door.fits(token):
		w.Header().Set("Location", "./"+g.folder+"/?"+tokenParam+"="+token)
		w.WriteHeader(http.StatusSeeOther)
	case inside && g.door.open(token):
		http.SetCookie(w, &http.Cookie{Name: cookieName, Value: g.session, HttpOnly: true, SameSite: http.SameSiteStrictMode})
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, entrance)
	default:
		http.Error(w, "This address has been used, or is not of the 'varq web' that runs now: it lets in one browser, once. "+
			"Open the one that was printed last; in Open OnDemand, look at the card again.", http.StatusUnauthorized)
	}
}

// inWindow reports whether a request is for a window of the user's, as far as the browser says: for
// no script and no frame, which a page of another user's behind the same proxy could read, and not
// just in case.
func inWindow(r *http.Request) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Moz"} {
		if strings.Contains(r.Header.Get(name), "prefetch") {
			return false
		}
	}
	dest := r.Header.Get("Sec-Fetch-Dest")
	return dest == "" || dest == "document"
}
