package api

import (
	"crypto/sha256"
	"fmt"
)

// RequestDigest is the payload of the munge credential that a request over TCP
// carries: it ties the credential to this very request. uri is the path with
// its query, as in the request line.
func RequestDigest(method, uri string, body []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %d\n", method, uri, len(body))
	h.Write(body)
	return h.Sum(nil)
}
