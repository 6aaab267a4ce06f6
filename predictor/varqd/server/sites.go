package server

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/peers"
)

// Peers knows the other sites' varqds that may connect by TLS.
type Peers interface {
	// Of returns the site whose certificates these are. The error says why that is none.
	Of(certificates []*x509.Certificate) (site string, err error)
	// Admits returns nil if a site's varqd may speak for a user. Otherwise the error is a fault of
	// package api.
	Admits(site, user string) error
}

// Sites reaches the varqds of other sites for users of this one.
type Sites interface {
	// Forward makes a request of user's at a site, and returns the status of the answer and its
	// body. An error is a fault of package api.
	Forward(ctx context.Context, site, user, method, uri string, body []byte) (status int, answer []byte, err error)
}

// access is who may ask for something, beside users of this site.
type access struct {
	open  bool // everybody, without a credential
	users bool // users for whom another site's varqd asks
	peers bool // other sites' varqds for themselves
}

// admitSite finds out, by the certificate of a connection, which site's varqd asks, and for whom:
// r.user and r.site.
func (h *handler) admitSite(c *conn, r *request, to access) error {
	if h.peers == nil {
		return api.Fault(errUnauthorized, "no site's varqd may connect here")
	}
	site, err := h.peers.Of(r.TLS.PeerCertificates)
	if err != nil {
		h.log.Warn("refused a site's varqd", "from", r.RemoteAddr, "error", err)
		return api.Fault(errUnauthorized, err.Error())
	}
	if !h.connections.prove(c, siteKey(site)) {
		return api.Fault(errTooMany, fmt.Sprintf("varqd works on %d requests of site %s already; wait for their answers", maxConnections, site))
	}
	r.site = site
	asked, forUser := r.Header[api.ForUser]
	switch {
	case !forUser && to.peers:
		r.user = peers.User(site)
		return nil
	case !forUser:
		return api.Fault(api.ErrForbidden, fmt.Sprintf("%s %s is not for the varqds of other sites", r.Method, r.URL.Path))
	case !to.users:
		return api.Fault(api.ErrForbidden, fmt.Sprintf("%s %s is not for users of other sites", r.Method, r.URL.Path))
	case len(asked) != 1:
		return api.Fault(api.ErrForbidden, fmt.Sprintf("site %s asks for %d users at once", site, len(asked)))
	}
	if err := h.peers.Admits(site, asked[0]); err != nil {
		h.log.Warn("refused to let a site's varqd speak for a user", "site", site, "user", asked[0], "error", err)
		return err
	}
	r.user = asked[0]
	return nil
}

// relay passes a request on to the site that its path names, and its answer back.
func (h *handler) relay(w http.ResponseWriter, r *request) error {
	site, path := r.PathValue("site"), "/"+r.PathValue("path")
	if !h.relayed[r.Method+" "+path] {
		return api.Fault(api.ErrNotFound, fmt.Sprintf("%s %s is not relayed to other sites", r.Method, path))
	}
	if h.sites == nil {
		return api.Fault(api.ErrNotFound, "this varqd relays to no site")
	}
	uri := path
	if r.URL.RawQuery != "" {
		uri += "?" + r.URL.RawQuery
	}
	return inTurn(r.Context(), h.siteTurns, site, func() error {
		status, answer, err := h.sites.Forward(r.Context(), site, r.user, r.Method, uri, r.body)
		switch {
		case err != nil:
			return err
		case status == http.StatusUnauthorized:
			var why api.Error
			_ = json.Unmarshal(answer, &why) // without, the status says enough
			return api.Fault(api.ErrUnavailable, fmt.Sprintf("site %s: it does not accept this site's varqd: %.300s", site, why.Error))
		case status == http.StatusNoContent:
			w.WriteHeader(status)
			return nil
		case status/100 != 2 && status < 400, status > 599, !json.Valid(answer):
			return api.Fault(api.ErrUnavailable, fmt.Sprintf("site %s: it answers with HTTP status %d what is not an answer of varqd's", site, status))
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, err = w.Write(answer)
		return err
	})
}
