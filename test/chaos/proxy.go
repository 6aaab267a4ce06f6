package chaos

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// proxy stands between varqd and slurmrestd, and does to requests and answers what its mode says.
type proxy struct {
	to       string // slurmrestd
	listener net.Listener
	server   *http.Server

	mu      sync.Mutex
	mode    string // "" passes everything
	random  *rand.Rand
	tampers int
}

// The modes. What is garbled can be told from an answer.
const (
	delays  = "delay"  // answers are late
	cuts    = "cut"    // answers end before their end, though Slurm has done what was asked
	doubles = "double" // requests arrive twice
	empties = "empty"  // answers are {}
	mangles = "mangle" // answers are not JSON
	refuses = "refuse" // requests are answered with an error
)

func newProxy(to string, random *rand.Rand) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{to: to, listener: l, random: random}
	p.server = &http.Server{Handler: p}
	go func() { _ = p.server.Serve(l) }() // until close
	return p, nil
}

func (p *proxy) url() string { return "http://" + p.listener.Addr().String() }
func (p *proxy) close()      { _ = p.server.Close() }

func (p *proxy) setMode(mode string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = mode
}

// choose returns what becomes of a request, and a number for it.
func (p *proxy) choose() (mode string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode == "" || p.random.IntN(2) == 0 {
		return "", 0
	}
	p.tampers++
	return p.mode, p.random.IntN(1 << 30)
}

// tampered returns how many requests or answers were tampered with.
func (p *proxy) tampered() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tampers
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mode, n := p.choose()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if mode == refuses {
		http.Error(w, "too busy", http.StatusServiceUnavailable)
		return
	}
	if mode == doubles {
		_, _, _ = p.forward(r, body) // the first of two
	}
	answer, header, err := p.forward(r, body)
	if err != nil {
		panic(http.ErrAbortHandler) // cuts the connection, as slurmrestd's end does
	}
	switch mode {
	case delays:
		time.Sleep(time.Duration(n%3000) * time.Millisecond)
	case empties:
		answer.text = []byte("{}")
	case mangles:
		answer.text = mangled(answer.text, n)
	}
	w.Header().Set("Content-Type", header.Get("Content-Type"))
	w.Header().Set("Content-Length", fmt.Sprint(len(answer.text)))
	w.WriteHeader(answer.status)
	if mode == cuts && len(answer.text) > 0 {
		_, _ = w.Write(answer.text[:n%len(answer.text)])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(answer.text)
}

type answer struct {
	status int
	text   []byte
}

func (p *proxy) forward(r *http.Request, body []byte) (answer, http.Header, error) {
	request, err := http.NewRequestWithContext(r.Context(), r.Method, p.to+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return answer{}, nil, err
	}
	request.Header = r.Header.Clone()
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return answer{}, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, text}, response.Header, err
}

// mangled returns text with one of its opening braces turned around.
func mangled(text []byte, n int) []byte {
	var braces []int
	for i, b := range text {
		if b == '{' {
			braces = append(braces, i)
		}
	}
	if len(braces) == 0 {
		return nil
	}
	text = bytes.Clone(text)
	text[braces[n%len(braces)]] = '}'
	return text
}
