package alone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/peercred"
)

// maxBody bounds a question, in bytes, and answerTime how long an answer may take.
const (
	maxBody    = 64 << 10
	answerTime = 30 * time.Second
)

// Serve answers questions on l, of the user of this process alone, until ctx is done. It closes l.
func (f *Forecaster) Serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{Handler: f.routes(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: answerTime + 5*time.Second}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	if err := s.Serve(own{l}); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// own is a listener on a unix socket that takes connections of the user of this process only.
type own struct{ net.Listener }

// Accept implements net.Listener.
func (l own) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if socket, is := c.(*net.UnixConn); is {
			if uid, err := peercred.UID(socket); err == nil && int(uid) == os.Getuid() {
				return c, nil
			}
		}
		c.Close()
	}
}

// routes returns the handler of all questions: a part of varqd's API.
func (f *Forecaster) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+api.PathHealth, func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, f.Health()) })
	mux.Handle("POST "+api.PathWhen, reply(f, (*api.WhenQuery).Check, func(ctx context.Context, q *api.WhenQuery) (api.When, error) {
		return f.desk.When(ctx, f.User, *q)
	}))
	mux.Handle("POST "+api.PathPredict, reply(f, (*api.PredictRequest).Check, func(ctx context.Context, r *api.PredictRequest) (api.Prediction, error) {
		return f.desk.Forecast(ctx, f.User, r, 0)
	}))
	mux.Handle("POST "+api.PathQuote, reply(f, (*api.PlanRequest).Check, func(ctx context.Context, r *api.PlanRequest) (api.PlanAnswer, error) {
		return f.desk.Plan(ctx, f.User, r, false)
	}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, api.Fault(api.ErrNotFound, fmt.Sprintf("this cluster has no varqd, and your own forecasts know nothing of %s", r.URL.Path)))
	})
	return mux
}

// reply returns a handler that reads a question, and answers it from a queue that is not old.
func reply[Q, A any](f *Forecaster, check func(*Q) error, of func(context.Context, *Q) (A, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTime)
		defer cancel()
		q := new(Q)
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err == nil {
			err = json.Unmarshal(body, q)
		}
		if err != nil {
			err = api.Fault(api.ErrInvalid, "the request cannot be read: "+err.Error())
		} else {
			err = check(q)
		}
		if err != nil {
			fail(w, err)
			return
		}
		if err := f.Look(ctx); err != nil {
			fail(w, api.Fault(api.ErrUnavailable, err.Error()))
			return
		}
		a, err := of(ctx, q)
		if err != nil {
			fail(w, err)
			return
		}
		answer(w, http.StatusOK, a)
	})
}

func fail(w http.ResponseWriter, err error) {
	status := api.Status(err)
	if status == 0 {
		status = http.StatusInternalServerError
	}
	answer(w, status, api.Error{Error: err.Error()})
}

func answer(w http.ResponseWriter, status int, a any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(api.APIs, api.API)
	w.Header().Set(api.ServerVersion, api.Version)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(a) // who has gone away needs no answer
}
