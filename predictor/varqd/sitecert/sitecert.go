// Package sitecert has the certificates by which the varqds of sites that share no munge key prove
// their identities to each other. A certificate is valid for a site under two conditions. It is
// signed by one of the authorities that the files name. The site's name is literally one of the
// certificate's DNS names: a wildcard matches no site.
//
// The files are read again when they change. If the new files make no sense, none of them is used,
// and what was read before stays in use.
package sitecert

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// Identity is who a site is, and how it knows others. Its methods may be called concurrently.
type Identity struct {
	files Files
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	stamps  [3]stamp
	held    *held
	problem error
}

// held is what the files held when they were read. It is immutable.
type held struct {
	pair        tls.Certificate
	authorities *x509.CertPool
}

// stamp tells whether a file has changed.
type stamp struct {
	modified time.Time
	size     int64
	mode     fs.FileMode
}

// Open reads the files. An error is a *FileError.
func Open(files Files, now func() time.Time, log *slog.Logger) (*Identity, error) {
	i := &Identity{files: files, now: now, log: log, stamps: files.stamps()}
	var err error
	i.held, err = files.read()
	return i, err
}

func (f *Files) stamps() (s [3]stamp) {
	for i, path := range []string{f.Certificate, f.Key, f.CA} {
		if info, err := os.Stat(path); err == nil {
			s[i] = stamp{info.ModTime(), info.Size(), info.Mode()}
		}
	}
	return s
}

// current returns what the files hold, or held when they last made sense.
func (i *Identity) current() *held {
	i.mu.Lock()
	defer i.mu.Unlock()
	stamps := i.files.stamps()
	if stamps == i.stamps && i.problem == nil {
		return i.held
	}
	i.stamps = stamps
	fresh, err := i.files.read()
	switch {
	case err == nil:
		i.held, i.problem = fresh, nil
		i.log.Info("the site's certificate was read again", "names", fresh.pair.Leaf.DNSNames, "expires", fresh.pair.Leaf.NotAfter)
	case i.problem == nil || i.problem.Error() != err.Error():
		i.log.Error("the site's certificate cannot be read again; the one from before stays in use", "error", err)
		i.problem = err
	}
	return i.held
}

// Server returns the configuration of a listener for other sites' varqds: they need a certificate.
func (i *Identity) Server() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		ClientAuth: tls.RequireAndVerifyClientCert,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			h := i.current()
			return &tls.Config{
				MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{h.pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: h.authorities,
				// A connection is one request's, so that connections bound what a site can ask at
				// once. A resumed session would have been verified by the files of its beginning.
				NextProtos: []string{"http/1.1"}, SessionTicketsDisabled: true, Time: i.now,
			}, nil
		},
	}
}

// Client returns the configuration of a connection to a site's varqd. The error says why this site
// has no good certificate.
func (i *Identity) Client(site string) (*tls.Config, error) {
	h := i.current()
	if leaf := h.pair.Leaf; i.now().After(leaf.NotAfter) {
		return nil, fmt.Errorf("the certificate of this site expired on %s (%s, server.tls.certificate)", leaf.NotAfter.UTC().Format(time.DateTime), i.files.Certificate)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{h.pair}, RootCAs: h.authorities, ServerName: site, NextProtos: []string{"http/1.1"}, Time: i.now,
		VerifyConnection: func(c tls.ConnectionState) error {
			if names := c.PeerCertificates[0].DNSNames; !slices.Contains(names, site) {
				return fmt.Errorf("its certificate is that of %.200q, and not of %s", names, site)
			}
			return nil
		},
	}, nil
}

// Serves reports whether a connection to a site, which was made with a configuration of Client's,
// may serve another request: the files are still the same, and neither end's certificate has
// expired.
func (i *Identity) Serves(made *tls.Config, c tls.ConnectionState) bool {
	h, now := i.current(), i.now()
	return made.RootCAs == h.authorities && !now.After(h.pair.Leaf.NotAfter) && !now.After(c.PeerCertificates[0].NotAfter)
}

// Verify returns an error unless the certificates, the first of which is a site's, are good now: a
// connection may be older than the files.
func (i *Identity) Verify(certificates []*x509.Certificate) error {
	if len(certificates) == 0 {
		return errors.New("there is no certificate")
	}
	return verify(certificates[0], certificates[1:], i.current().authorities, i.now(), x509.ExtKeyUsageClientAuth)
}

func verify(leaf *x509.Certificate, others []*x509.Certificate, authorities *x509.CertPool, now time.Time, use x509.ExtKeyUsage) error {
	o := x509.VerifyOptions{Roots: authorities, Intermediates: x509.NewCertPool(), CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{use}}
	for _, c := range others {
		o.Intermediates.AddCert(c)
	}
	_, err := leaf.Verify(o)
	return err
}

// soon is how long before its end a certificate should be replaced.
const soon = 30 * 24 * time.Hour

// Notes are sentences that say what is wrong with the certificate of a site, or soon will be. site
// is its name; empty if it is not known.
func (s *State) Notes(site string, now time.Time) []string {
	var notes []string
	if s.Problem != nil {
		notes = append(notes, fmt.Sprintf("the site's certificate cannot be read again, and the one from before stays in use: %v", s.Problem))
	}
	switch left := s.Expires.Sub(now); {
	case left < 0:
		notes = append(notes, fmt.Sprintf("the site's certificate expired on %s: no other site takes it", s.Expires.UTC().Format(time.DateTime)))
	case left < soon:
		notes = append(notes, fmt.Sprintf("the site's certificate expires in %s, on %s", whole(left), s.Expires.UTC().Format(time.DateTime)))
	}
	if s.Unsigned != nil && !now.After(s.Expires) {
		notes = append(notes, fmt.Sprintf("other sites with the same server.tls.ca do not take the site's certificate: %v", s.Unsigned))
	}
	if site != "" && !slices.Contains(s.Names, site) {
		notes = append(notes, fmt.Sprintf("the site's certificate is that of %.200q, and varq.yaml calls this site %s (sites): others do not take it", s.Names, site))
	}
	return notes
}

// whole tells a time in whole days, or below one in hours.
func whole(left time.Duration) string {
	switch hours := int(left.Hours()); {
	case hours >= 48:
		return fmt.Sprintf("%d days", hours/24)
	case hours >= 24:
		return "1 day"
	case hours >= 2:
		return fmt.Sprintf("%d hours", hours)
	case hours >= 1:
		return "1 hour"
	}
	return "less than an hour"
}

// State is how the site's own certificate is.
type State struct {
	// Names are the sites whose certificate it is.
	Names []string
	// Expires is when it ends.
	Expires time.Time
	// Unsigned says why those who have the same authorities would not take it; nil if they would.
	Unsigned error
	// Problem is why the files cannot be read again; nil if they can.
	Problem error
}

// State returns how the site's own certificate is.
func (i *Identity) State() State {
	h := i.current()
	i.mu.Lock()
	s := State{Names: h.pair.Leaf.DNSNames, Expires: h.pair.Leaf.NotAfter, Problem: i.problem}
	i.mu.Unlock()
	var others []*x509.Certificate
	for _, der := range h.pair.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			others = append(others, c)
		}
	}
	for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		if err := verify(h.pair.Leaf, others, h.authorities, i.now(), use); err != nil {
			s.Unsigned = err
		}
	}
	return s
}
