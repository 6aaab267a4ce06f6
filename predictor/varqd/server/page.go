package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/varq-project/varq/predictor/api"
)

// page is an answer that is kept until it is whole. Only then is it signed, and only after
// its user's turn is it sent: one who does not read his answer keeps nobody waiting.
type page struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newPage() *page { return &page{header: http.Header{}, status: http.StatusOK} }

// Header, WriteHeader and Write implement http.ResponseWriter.
func (p *page) Header() http.Header { return p.header }

// WriteHeader implements http.ResponseWriter.
func (p *page) WriteHeader(status int) { p.status = status }

// Write implements http.ResponseWriter.
func (p *page) Write(b []byte) (int, error) { return p.body.Write(b) }

// fail makes the page an error's.
func (p *page) fail(status int, text string) {
	p.header = http.Header{}
	p.body.Reset()
	_ = writeJSON(p, status, api.Error{Error: text}) // a string can always be encoded
}

// send sends the page. A client that is gone is nobody's error.
func (p *page) send(w http.ResponseWriter) {
	for key, values := range p.header {
		w.Header()[key] = values
	}
	if p.status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(p.body.Len()))
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(p.body.Bytes())
}

// writeJSON writes v as the whole answer.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	return json.NewEncoder(w).Encode(v)
}
