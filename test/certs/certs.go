// Package certs makes certificates of sites for tests.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/varq-project/varq/predictor/varqd/sitecert"
)

// Authority signs certificates.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority returns an authority that is good for a day.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := newTemplate("authority", time.Now().Add(24*time.Hour))
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &Authority{certificate, key}, err
}

func newTemplate(name string, expires time.Time) (*x509.Certificate, error) {
	begins := time.Now()
	if expires.Before(begins) {
		begins = expires
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: begins.Add(-time.Hour), NotAfter: expires,
	}, err
}

// Write writes the files of a site into a folder, where they replace those of the same site: a
// certificate with these DNS names, the first of which names the files. It is good until expires.
func (a *Authority) Write(dir string, expires time.Time, names ...string) (sitecert.Files, error) {
	f := sitecert.Files{Certificate: filepath.Join(dir, names[0]+".crt"), Key: filepath.Join(dir, names[0]+".key"), CA: filepath.Join(dir, names[0]+".ca")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return f, err
	}
	template, err := newTemplate(names[0], expires)
	if err != nil {
		return f, err
	}
	template.DNSNames, template.KeyUsage = names, x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return f, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return f, err
	}
	for _, file := range []struct {
		path, kind string
		der        []byte
		mode       os.FileMode
	}{{f.Certificate, "CERTIFICATE", der, 0o644}, {f.Key, "PRIVATE KEY", secret, 0o600}, {f.CA, "CERTIFICATE", a.certificate.Raw, 0o644}} {
		if err := replace(file.path, pem.EncodeToMemory(&pem.Block{Type: file.kind, Bytes: file.der}), file.mode); err != nil {
			return f, fmt.Errorf("%s: %w", file.path, err)
		}
	}
	return f, nil
}

// replace writes a file at once.
func replace(path string, text []byte, mode os.FileMode) error {
	if err := os.WriteFile(path+".new", text, mode); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
