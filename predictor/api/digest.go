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

// AnswerCredential is the header of an answer over TCP that carries a munge credential of
// varqd's user, with the answer's AnswerDigest as payload.
const AnswerCredential = "Varq-Credential"

// AnswerDigest returns the payload of the munge credential that an answer over TCP carries.
// request is the credential of the request. No two requests have the same credential, so an
// answer with this payload is of use for one request only. status is that of HTTP.
func AnswerDigest(request string, status int, body []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "answer %d %d %s\n", status, len(body), request)
	h.Write(body)
	return h.Sum(nil)
}
