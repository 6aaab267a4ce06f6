package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// remote returns a connection from an address.
func remote(t *testing.T, address string) *conn {
	here, there := net.Pipe()
	t.Cleanup(func() { there.Close() })
	return &conn{Conn: here, peer: address}
}

func TestConnections(t *testing.T) {
	cs := newConnections()
	admit := func(c *conn) *conn {
		t.Helper()
		if !cs.admit(c) {
			t.Fatal("an unproven newcomer is refused")
		}
		return c
	}
	// The oldest connection without a whole request makes room.
	first, second := admit(remote(t, "a")), admit(remote(t, "a"))
	cs.arrived(first)
	for range maxConnections - 2 {
		admit(remote(t, "a"))
	}
	if first.gone || second.gone {
		t.Error("one was closed before there were too many")
	}
	admit(remote(t, "a"))
	if first.gone || !second.gone || len(cs.open["a"]) != maxConnections {
		t.Errorf("of the connections with and without a whole request, gone are %v and %v", first.gone, second.gone)
	}
	// If all are whole, the oldest.
	for _, c := range cs.open["a"] {
		cs.arrived(c)
	}
	admit(remote(t, "a"))
	if !first.gone {
		t.Error("the oldest of the whole ones is still there")
	}
	// A user proven counts for himself, and not for his address.
	proven := cs.open["a"][0]
	if !cs.prove(proven, userKey(1000)) || len(cs.open["a"]) != maxConnections-1 || len(cs.open[userKey(1000)]) != 1 {
		t.Errorf("%d count for the address, %d for the user", len(cs.open["a"]), len(cs.open[userKey(1000)]))
	}
	cs.prove(proven, userKey(1000))
	cs.prove(proven, userKey(1001))
	if len(cs.open[userKey(1000)]) != 0 || len(cs.open[userKey(1001)]) != 1 {
		t.Error("a connection of another user now")
	}
	// A user has so many requests at once, and no more. An idle connection makes room.
	for i := range maxConnections - 1 {
		c := admit(remote(t, fmt.Sprint("b", i)))
		cs.arrived(c)
		cs.prove(c, userKey(1001))
	}
	cs.arrived(proven)
	extra := admit(remote(t, "c"))
	cs.arrived(extra)
	if cs.prove(extra, userKey(1001)) {
		t.Error("one request too many")
	}
	cs.answered(proven)
	if !cs.prove(extra, userKey(1001)) || !proven.gone {
		t.Error("the idle one did not make room")
	}
	// Too many unproven: the address with most of them makes room, until each address has one. Then
	// any may.
	for i := range maxUnproven {
		admit(remote(t, fmt.Sprint("host", i)))
	}
	if cs.unproven != maxUnproven || len(cs.open["a"]) > 1 {
		t.Errorf("%d unproven, %d of the address with most", cs.unproven, len(cs.open["a"]))
	}
	for _, of := range cs.open {
		for _, c := range append([]*conn(nil), of...) {
			c.Close()
			c.Close()
		}
	}
	if len(cs.open) != 0 || cs.unproven != 0 {
		t.Errorf("%d left over, %d unproven", len(cs.open), cs.unproven)
	}
}

// One user who is proven on more connections than one may have shuts out neither others nor
// himself.
func TestOneUserOfManyConnections(t *testing.T) {
	f := start(t)
	call := func(uid, n int) *http.Client {
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		uri := fmt.Sprintf("%s?job=%d", api.PathReservations, n)
		client := &http.Client{Transport: transport}
		status, answer := ask(t, client, "GET", "http://"+f.address+uri, "",
			"Authorization", fmt.Sprintf("Munge %d %x", uid, api.RequestDigest("GET", uri, nil)))
		if status != 200 {
			t.Errorf("user %d, call %d: %d %s", uid, n, status, answer)
		}
		return client
	}
	for n := range 300 {
		call(1000, n+1)
	}
	for n := range 30 {
		call(1001, n+1)
	}
}

// One host whose credentials take for ever does not keep munge from those of another host.
func TestOneHostOfBadCredentials(t *testing.T) {
	f := start(t)
	bad := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for range 4 * maxMunge {
		c, err := bad.Dial("tcp", f.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "GET "+api.PathReservations+" HTTP/1.1\r\nHost: varqd\r\nAuthorization: Munge "+hang+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	hanging := func() int {
		f.munge.mu.Lock()
		defer f.munge.mu.Unlock()
		return f.munge.hanging
	}
	for end := time.Now().Add(5 * time.Minute); hanging() < maxMungeOfOne; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no credential came")
		}
	}
	credential := fmt.Sprintf("Munge 1000 %x", api.RequestDigest("GET", api.PathReservations, nil))
	if status, answer := ask(t, http.DefaultClient, "GET", "http://"+f.address+api.PathReservations, "", "Authorization", credential); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
	if n := hanging(); n != maxMungeOfOne {
		t.Errorf("%d credentials of one host at once", n)
	}
}

// A body that comes drop by drop has a deadline.
func TestSlowBodies(t *testing.T) {
	f := startWith(t, 100*time.Millisecond)
	c, err := net.Dial("tcp", f.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(5 * time.Minute))
	if _, err := io.WriteString(c, "POST "+api.PathPlan+" HTTP/1.1\r\nHost: varqd\r\nContent-Length: 60000\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	closed := make(chan string, 1)
	go func() {
		answer, _ := io.ReadAll(c) // reset, if drops were still coming
		closed <- string(answer)
	}()
	for {
		select {
		case answer := <-closed:
			if answer != "" && !strings.Contains(answer, "did not arrive whole") {
				t.Errorf("answered %q", answer)
			}
			return
		case <-time.After(10 * time.Millisecond):
			_, _ = io.WriteString(c, "x")
		}
	}
}
