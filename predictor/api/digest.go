package api

import (
	"crypto/sha256"
	"fmt"
)

// RequestDigest returns the payload of the munge credential that a request over TCP
// carries. With this payload the credential is of use for this request only. uri is the path
// with its query, as in the request line.
func RequestDigest(method, uri string, body []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %d\n", method, uri, len(body))
	h.Write(body)
	return h.Sum(nil)
}
