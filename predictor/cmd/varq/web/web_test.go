package web

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// The addresses that are printed have the number that is listened on: localhost is [::1], too,
// where another user may listen at the same port, and would be sent the token.
func TestAnnouncesWhereItListens(t *testing.T) {
	for _, c := range []struct{ address, at, page string }{
		{"localhost", "127.0.0.1:8765", "127.0.0.1:8765"},
		{"node7", "10.0.0.7:8765", "10.0.0.7:8765"},
		{"::1", "[::1]:8765", "[::1]:8765"},
		{"0.0.0.0", "0.0.0.0:8765", "0.0.0.0:8765"},
	} {
		at, err := net.ResolveTCPAddr("tcp", c.at)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		env := &cli.Env{Stdout: &out, Getenv: func(string) string { return "" }}
		flags := &webFlags{address: c.address}
		flags.announce(env, at, "secret")
		flags.announceNext(env, at, "other")
		for _, want := range []string{
			"varq: open http://" + c.page + "/?token=secret\n", "ssh -N -L 8765:" + c.page + " USER@",
			"varq: a browser has come in; if it is not yours, press Ctrl-C. For another one: http://" + c.page + "/?token=other\n",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("--address=%s: no %q in\n%s", c.address, want, &out)
			}
		}
	}
}

// When the command is interrupted, what was asked by then is still answered, and it ends without an
// error.
func TestServeEnds(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	asked, where, ended := make(chan struct{}), make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, "localhost:0", func(at net.Addr) http.Handler {
			where <- "http://" + at.String()
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				close(asked)
				<-ctx.Done()
				_, _ = w.Write([]byte("answered"))
			})
		})
	}()
	go func() {
		<-asked
		interrupt()
	}()
	status, text := answerOf(t, new(http.Client), must(http.NewRequest(http.MethodGet, <-where, nil)))
	if err := <-ended; status != http.StatusOK || text != "answered" || err != nil {
		t.Errorf("%d %q, %v", status, text, err)
	}
}

// A port that is taken is told by its option.
func TestServeElsewhere(t *testing.T) {
	taken, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if err := Serve(t.Context(), taken.Addr().String(), nil); err == nil || !strings.Contains(err.Error(), "--port") {
		t.Error(err)
	}
}
