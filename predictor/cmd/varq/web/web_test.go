package web

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
)

// When the command is interrupted, what was asked by then is still answered, and it ends without an error.
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
