package sitecert

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/varq-project/varq/predictor/varqd/guard"
)

// Files are the files of a site, in PEM. Nobody but their owners and groups may change them.
type Files struct {
	// Certificate is the site's own, followed by those of intermediate authorities if there are
	// any.
	Certificate string
	// Key is the certificate's, which others must not be able to read.
	Key string
	// CA are the authorities that sign the certificates of sites.
	CA string
}

// The names of the files in errors, which are those of the keys in varq.yaml.
const (
	OfCertificate = "certificate"
	OfKey         = "key"
	OfCA          = "ca"
)

// FileError is the error of one of the files.
type FileError struct {
	Of  string // OfCertificate, OfKey or OfCA
	Err error
	// Remedy says what to do.
	Remedy string
}

func (e *FileError) Error() string {
	return "server.tls." + e.Of + ": " + e.Err.Error() + ": " + e.Remedy
}
func (e *FileError) Unwrap() error { return e.Err }

// The remedies of files that cannot be read, or are not what they should be.
const (
	remedyPEM  = "put a file in PEM there that varqd's user may read"
	remedyKey  = remedyPEM + ", and nobody else"
	remedyPair = "name the key that belongs to the certificate, or the certificate that was signed for this key"
)

func (f *Files) read() (*held, error) {
	certificate, err := read(OfCertificate, f.Certificate, remedyPEM)
	if err != nil {
		return nil, err
	}
	if block, _ := pem.Decode(certificate); block == nil || block.Type != "CERTIFICATE" {
		return nil, &FileError{OfCertificate, fmt.Errorf("%s does not begin with a certificate in PEM", f.Certificate), remedyPEM}
	} else if _, err := x509.ParseCertificate(block.Bytes); err != nil {
		return nil, &FileError{OfCertificate, fmt.Errorf("%s: %w", f.Certificate, err), remedyPEM}
	}
	key, err := read(OfKey, f.Key, remedyKey)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	switch {
	case err != nil && strings.Contains(err.Error(), "does not match"):
		return nil, &FileError{OfKey, fmt.Errorf("%s is not the key of the certificate in %s", f.Key, f.Certificate), remedyPair}
	case err != nil:
		return nil, &FileError{OfKey, fmt.Errorf("%s: %w", f.Key, err), remedyKey}
	}
	ca, err := read(OfCA, f.CA, remedyPEM)
	if err != nil {
		return nil, err
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(ca) {
		return nil, &FileError{OfCA, fmt.Errorf("%s has no certificate in PEM", f.CA), remedyPEM}
	}
	return &held{pair, authorities}, nil
}

// maxFile bounds a file, in bytes.
const maxFile = 1 << 20

// read reads a file, unless others may do with it what they must not. An error is a *FileError.
func read(of, path, remedy string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &FileError{of, err, remedy}
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, &FileError{of, err, remedy}
	}
	if mode := info.Mode().Perm(); of == OfKey && mode&0o007 != 0 {
		return nil, &FileError{of, fmt.Errorf("%s (mode %04o) is open to everybody, and who reads it can speak for this site", path, mode), "chmod o= " + path}
	}
	if err := guarded(of, path); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	n, err := io.Copy(&text, io.LimitReader(file, maxFile+1))
	if err == nil && n > maxFile {
		err = fmt.Errorf("%s: larger than %d bytes", path, maxFile)
	}
	if err != nil {
		return nil, &FileError{of, err, remedy}
	}
	return text.Bytes(), nil
}

// guarded returns an error if everybody may change a file, or put another one in its place.
func guarded(of, path string) error {
	err := guard.Walk(path, func(at string, info fs.FileInfo) error {
		if guard.Open(info) {
			return changeable(of, at, info)
		}
		return nil
	})
	if err != nil && !errors.As(err, new(*FileError)) {
		return &FileError{of, err, remedyPEM}
	}
	return err
}

// changeable is the error of a file of which everybody may change path, which is the file or a
// folder above it.
func changeable(of, path string, info fs.FileInfo) error {
	who := "who can then cut this site off"
	if of == OfCA {
		who = "who can then be any site"
	}
	return &FileError{of, fmt.Errorf("%s (mode %04o) can be changed by everybody, %s", path, info.Mode().Perm(), who), "chmod o-w " + path}
}
