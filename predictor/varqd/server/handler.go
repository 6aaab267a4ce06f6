package server

import (
	"bytes"
	"context"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/munge"
)

//go:generate go run ./openapigen -o openapi.json

//go:embed openapi.json
var openAPI []byte

type handler struct {
	service     Service
	credentials Credentials
	users       *users
	log         *slog.Logger
	turns       *turns
	decoding    chan struct{}
	latency     *prometheus.HistogramVec
}

func newLatency(registry *prometheus.Registry) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "varq_request_seconds",
		Help:    "Time to answer a request, by path and HTTP status.",
		Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 5, 20},
	}, []string{"path", "status"})
	registry.MustRegister(h)
	return h
}

// routes returns the whole API.
func (h *handler) routes(registry *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	route := func(method, path string, answer func(w http.ResponseWriter, r *http.Request) error) {
		mux.HandleFunc(method+" "+path, func(w http.ResponseWriter, r *http.Request) { h.serve(path, w, r, answer) })
	}
	route(http.MethodPost, api.PathPlan, h.asUser(h.plan(true)))
	route(http.MethodPost, api.PathQuote, h.asUser(h.plan(false)))
	route(http.MethodPost, api.PathBind, h.asUser(h.bind))
	route(http.MethodGet, api.PathReservations, h.asUser(h.reservations))
	route(http.MethodGet, api.PathReport, h.asUser(h.report))
	route(http.MethodGet, api.PathCalibration, h.asUser(h.calibration))
	route(http.MethodPost, api.PathPredict, h.asUser(h.predict))
	route(http.MethodGet, api.PathHealth, h.health)
	route(http.MethodGet, api.PathOpenAPI, func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", "application/json")
		_, err := w.Write(openAPI)
		return err
	})
	mux.Handle(http.MethodGet+" "+api.PathMetrics, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		h.serve("other", w, r, func(http.ResponseWriter, *http.Request) error {
			return api.Fault(api.ErrNotFound, fmt.Sprintf("there is no %s %s", r.Method, r.URL.Path))
		})
	})
	return mux
}

// serve answers one request: in time, and with an api.Error when it fails, be it
// by a panic.
func (h *handler) serve(path string, w http.ResponseWriter, r *http.Request, answer func(http.ResponseWriter, *http.Request) error) {
	began := time.Now()
	status := http.StatusOK
	defer func() {
		h.latency.WithLabelValues(path, strconv.Itoa(status)).Observe(time.Since(began).Seconds())
	}()
	ctx, cancel := context.WithTimeout(r.Context(), requestTime)
	defer cancel()
	r = r.WithContext(ctx)
	err := safely(func() error { return answer(w, r) })
	if err == nil {
		return
	}
	status = statusOf(err)
	text := err.Error()
	switch {
	case ctx.Err() != nil:
		status, text = http.StatusServiceUnavailable, "varqd is too busy to answer in time"
	case status == http.StatusInternalServerError:
		h.log.Error("request failed", "path", path, "error", err)
		text = "internal error; varqd's log has more"
	}
	_ = writeJSON(w, status, api.Error{Error: text}) // a string can always be encoded
}

// safely turns a panic of do into an error.
func safely(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}

// userRequest is a request whose user is proven and whose body has been read.
type userRequest struct {
	*http.Request
	user string
	body []byte
}

// asUser proves who asks, and waits for that user's turn, before answer is
// called.
func (h *handler) asUser(answer func(w http.ResponseWriter, r *userRequest) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				return api.Fault(errTooLarge, fmt.Sprintf("the request is larger than %d bytes", maxBody))
			}
			return api.Fault(api.ErrInvalid, "the request did not arrive whole")
		}
		uid, ok := localUID(r.Context())
		if !ok {
			if uid, err = h.remoteUID(r, body); err != nil {
				return err
			}
		}
		name, err := h.users.name(uid)
		if err != nil {
			h.log.Warn("request of an unknown user", "uid", uid, "error", err)
			return api.Fault(errUnauthorized, fmt.Sprintf("varqd's host knows no user with id %d", uid))
		}
		done, err := h.turns.take(r.Context(), name)
		if err != nil {
			return err
		}
		defer done()
		return answer(w, &userRequest{r, name, body})
	}
}

// remoteUID takes the user from the munge credential of a request, which must
// have been made for this very request.
func (h *handler) remoteUID(r *http.Request, body []byte) (uint32, error) {
	credential, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Munge ")
	if !ok || h.credentials == nil {
		return 0, api.Fault(errUnauthorized, "a munge credential is needed: Authorization: Munge CREDENTIAL")
	}
	if err := acquire(r.Context(), h.decoding); err != nil {
		return 0, err
	}
	uid, payload, err := h.credentials.Decode(r.Context(), credential)
	<-h.decoding
	if errors.Is(err, munge.ErrInvalid) {
		h.log.Warn("bad munge credential", "from", r.RemoteAddr, "error", err)
		return 0, api.Fault(errUnauthorized, err.Error())
	}
	if err != nil {
		h.log.Error("munge does not work", "error", err)
		return 0, api.Fault(api.ErrUnavailable, "varqd cannot check munge credentials now")
	}
	if subtle.ConstantTimeCompare(payload, api.RequestDigest(r.Method, r.URL.RequestURI(), body)) != 1 {
		h.log.Warn("munge credential of another request", "from", r.RemoteAddr, "uid", uid)
		return 0, api.Fault(errUnauthorized, "the munge credential was made for another request")
	}
	return uid, nil
}

func (h *handler) plan(promise bool) func(http.ResponseWriter, *userRequest) error {
	return func(w http.ResponseWriter, r *userRequest) error {
		req, err := decodePlan(r.body, r.user)
		if err != nil {
			return err
		}
		answer, err := h.service.Plan(r.Context(), r.user, req, promise)
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, answer)
	}
}

func (h *handler) bind(w http.ResponseWriter, r *userRequest) error {
	b, err := decodeBinding(r.body)
	if err != nil {
		return err
	}
	if err := h.service.Bind(r.Context(), r.user, *b); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (h *handler) reservations(w http.ResponseWriter, r *userRequest) error {
	q, err := parseReservations(r.URL.Query())
	if err != nil {
		return err
	}
	list, err := h.service.Reservations(r.Context(), r.user, q)
	if err != nil {
		return err
	}
	if list == nil {
		list = []api.Reservation{}
	}
	return writeJSON(w, http.StatusOK, list)
}

func (h *handler) report(w http.ResponseWriter, r *userRequest) error {
	q, err := parseReport(r.URL.Query())
	if err != nil {
		return err
	}
	report, err := h.service.Report(r.Context(), r.user, q)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, report)
}

func (h *handler) calibration(w http.ResponseWriter, r *userRequest) error {
	q, err := parseCalibration(r.URL.Query())
	if err != nil {
		return err
	}
	calibration, err := h.service.Calibration(r.Context(), q)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, calibration)
}

func (h *handler) predict(w http.ResponseWriter, r *userRequest) error {
	req, err := decodePredict(r.body, r.user)
	if err != nil {
		return err
	}
	prediction, err := h.service.Predict(r.Context(), r.user, req)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, prediction)
}

func (h *handler) health(w http.ResponseWriter, r *http.Request) error {
	health := h.service.Health(r.Context())
	status := http.StatusOK
	if !health.OK {
		status = http.StatusServiceUnavailable
	}
	return writeJSON(w, status, health)
}

// writeJSON writes a whole answer. An error it returns comes from encoding, when
// nothing has been written yet: a client that is gone is nobody's error.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
	return nil
}
