package server

import (
	"context"
	"crypto/subtle"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
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
	connections *connections
	turns       *turns // of users
	openTurns   *turns // of peers who need not be users
	decoding    *turns // of addresses
	signing     *turns // of users
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
	route := func(method, path string, forUsers bool, answer answerer) {
		mux.HandleFunc(method+" "+path, func(w http.ResponseWriter, r *http.Request) { h.serve(path, forUsers, w, r, answer) })
	}
	route(http.MethodPost, api.PathPlan, true, h.plan(true))
	route(http.MethodPost, api.PathQuote, true, h.plan(false))
	route(http.MethodPost, api.PathBind, true, act(decodeBinding, h.service.Bind))
	route(http.MethodPost, api.PathCancel, true, act(decodeCancellation, h.service.Cancel))
	route(http.MethodPost, api.PathAccept, true, h.accept)
	route(http.MethodGet, api.PathLimits, true, h.limits)
	route(http.MethodGet, api.PathReservations, true, h.reservations)
	route(http.MethodGet, api.PathReport, true, h.report)
	route(http.MethodGet, api.PathCalibration, true, h.calibration)
	route(http.MethodGet, api.PathShadow, true, h.shadow)
	route(http.MethodPost, api.PathPredict, true, h.predict)
	route(http.MethodGet, api.PathNodes, true, h.nodes)
	route(http.MethodGet, api.PathRisk, true, h.risk)
	route(http.MethodGet, api.PathNodesScores, true, h.nodesCalibration)
	route(http.MethodPost, api.PathVitals, true, h.vitals)
	route(http.MethodGet, api.PathHealth, false, h.health)
	route(http.MethodGet, api.PathOpenAPI, false, func(w http.ResponseWriter, _ *request) error {
		w.Header().Set("Content-Type", "application/json")
		_, err := w.Write(openAPI)
		return err
	})
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	route(http.MethodGet, api.PathMetrics, false, func(w http.ResponseWriter, r *request) error {
		metrics.ServeHTTP(w, r.Request)
		return nil
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		h.serve("other", false, w, r, func(http.ResponseWriter, *request) error {
			return api.Fault(api.ErrNotFound, fmt.Sprintf("there is no %s %s", r.Method, r.URL.Path))
		})
	})
	return mux
}

// request is a request that has come whole.
type request struct {
	*http.Request
	body []byte
	user string // who asks; empty if that is neither proven nor needed
	// credential is the one that has proven who asks; empty on a unix socket.
	credential string
	// from are the addresses from which it seems to come, if it is proven who asks: of the other end, and of the host
	// where the credential was made if munge knows that.
	from []netip.Addr
}

// answerer writes the answer to a request, or returns an error.
type answerer func(w http.ResponseWriter, r *request) error

// serve answers one request: in time, and with an api.Error when it fails, be it by a panic.
// What is forUsers needs a proven user.
func (h *handler) serve(path string, forUsers bool, w http.ResponseWriter, r *http.Request, answer answerer) {
	began := time.Now()
	p := newPage()
	h.fill(p, path, forUsers, w, r, answer)
	h.latency.WithLabelValues(path, strconv.Itoa(p.status)).Observe(time.Since(began).Seconds())
	p.send(w)
}

// fill makes the page that answers a request.
func (h *handler) fill(p *page, path string, forUsers bool, w http.ResponseWriter, r *http.Request, answer answerer) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTime)
	defer cancel()
	fail := func(err error) {
		status, text := statusOf(err), err.Error()
		switch {
		case ctx.Err() != nil && status == http.StatusInternalServerError:
			status, text = http.StatusServiceUnavailable, "varqd is too busy to answer in time"
		case status == http.StatusInternalServerError:
			h.log.Error("request failed", "path", path, "error", err)
			text = "internal error; varqd's log has more"
		}
		p.fail(status, text)
	}
	req, err := h.read(w, r.WithContext(ctx), forUsers)
	if err != nil {
		fail(err)
		return
	}
	turns, whose := h.turns, req.user
	if req.user == "" {
		turns, whose = h.openTurns, connOf(ctx).peer
	}
	if err := inTurn(ctx, turns, whose, func() error { return answer(p, req) }); err != nil {
		fail(err)
	}
	if req.credential == "" {
		return
	}
	// The time of the request may be over, but not that of who waits for its answer.
	if err := inTurn(r.Context(), h.signing, req.user, func() error { return h.sign(r.Context(), p, req.credential) }); err != nil {
		h.log.Error("munge does not work", "error", err)
		p.fail(http.StatusServiceUnavailable, "varqd cannot make munge credentials now")
	}
}

// inTurn calls do when it is whose turn. A panic of do is an error.
func inTurn(ctx context.Context, turns *turns, whose string, do func() error) error {
	done, err := turns.take(ctx, whose)
	if err != nil {
		return err
	}
	defer done()
	return safely(do)
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

// read reads a request whole, and finds out who asks if that is needed, or if a credential
// comes with it: who sends one wants to know who answers.
func (h *handler) read(w http.ResponseWriter, r *http.Request, forUsers bool) (*request, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, api.Fault(errTooLarge, fmt.Sprintf("the request is larger than %d bytes", maxBody))
		}
		return nil, api.Fault(api.ErrInvalid, "the request did not arrive whole")
	}
	c := connOf(r.Context())
	h.connections.arrived(c)
	req := &request{Request: r, body: body}
	uid := c.uid
	req.from = []netip.Addr{c.address()}
	switch authorization := r.Header.Get("Authorization"); {
	case c.local && !forUsers, !c.local && !forUsers && authorization == "":
		return req, nil
	case !c.local:
		if uid, err = h.decode(req, authorization); err != nil {
			return nil, err
		}
	}
	if req.user, err = h.users.name(uid); err != nil {
		h.log.Warn("request of an unknown user", "uid", uid, "error", err)
		return nil, api.Fault(errUnauthorized, fmt.Sprintf("varqd's host knows no user with id %d", uid))
	}
	if !h.connections.prove(c, uid) {
		return nil, api.Fault(errTooMany, fmt.Sprintf("varqd works on %d requests of yours already; wait for their answers", maxConnections))
	}
	return req, nil
}

// decode takes the user from the munge credential of a request, which must have been made for
// this very request.
func (h *handler) decode(r *request, authorization string) (uint32, error) {
	credential, ok := strings.CutPrefix(authorization, "Munge ")
	if !ok || h.credentials == nil {
		return 0, api.Fault(errUnauthorized, "a munge credential is needed: Authorization: Munge CREDENTIAL")
	}
	done, err := h.decoding.take(r.Context(), connOf(r.Context()).peer)
	if err != nil {
		return 0, err
	}
	maker, payload, err := h.credentials.Decode(r.Context(), credential)
	done()
	if errors.Is(err, munge.ErrInvalid) {
		h.log.Warn("bad munge credential", "from", r.RemoteAddr, "error", err)
		return 0, api.Fault(errUnauthorized, err.Error())
	}
	if err != nil {
		h.log.Error("munge does not work", "error", err)
		return 0, api.Fault(api.ErrUnavailable, "varqd cannot check munge credentials now")
	}
	if subtle.ConstantTimeCompare(payload, api.RequestDigest(r.Method, r.URL.RequestURI(), r.body)) != 1 {
		h.log.Warn("munge credential of another request", "from", r.RemoteAddr, "uid", maker.UID)
		return 0, api.Fault(errUnauthorized, "the munge credential was made for another request")
	}
	r.credential = credential
	if !maker.Host.IsLoopback() {
		r.from = append(r.from, maker.Host)
	}
	return maker.UID, nil
}

// sign proves to who asked that the page is varqd's answer to the request with this
// credential.
func (h *handler) sign(ctx context.Context, p *page, credential string) error {
	signature, err := h.credentials.Encode(ctx, api.AnswerDigest(credential, p.status, p.body.Bytes()))
	if err != nil {
		return err
	}
	p.header.Set(api.AnswerCredential, signature)
	return nil
}

func (h *handler) plan(promise bool) answerer {
	return func(w http.ResponseWriter, r *request) error {
		req, err := decodePlan(r.body, r.user)
		if err != nil {
			return err
		}
		answer, err := h.service.Plan(r.Context(), r.user, req, promise)
		if err != nil {
			return err
		}
		if gone := r.Context().Err(); gone != nil && promise && answer.Plan != nil { // nobody would take up the promise
			return errors.Join(gone, h.service.Cancel(context.WithoutCancel(r.Context()), r.user, api.Cancellation{Plan: answer.Plan.ID}))
		}
		return writeJSON(w, http.StatusOK, answer)
	}
}

// act answers a request that do carries out, without a body.
func act[T any](decode func([]byte) (*T, error), do func(ctx context.Context, user string, v T) error) answerer {
	return func(w http.ResponseWriter, r *request) error {
		v, err := decode(r.body)
		if err != nil {
			return err
		}
		if err := do(r.Context(), r.user, *v); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

func (h *handler) accept(w http.ResponseWriter, r *request) error {
	a, err := decodeAcceptance(r.body)
	if err != nil {
		return err
	}
	accepted, err := h.service.Accept(r.Context(), r.user, *a)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, accepted)
}

func (h *handler) limits(w http.ResponseWriter, r *request) error {
	limits, err := h.service.Limits(r.Context(), r.user)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, limits)
}

func (h *handler) nodes(w http.ResponseWriter, r *request) error {
	nodes, err := h.service.Nodes(r.Context(), r.user)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, nodes)
}

func (h *handler) vitals(w http.ResponseWriter, r *request) error {
	v, err := decodeVitals(r.body)
	if err != nil {
		return err
	}
	if err := h.service.Vitals(r.Context(), r.user, r.from, *v); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (h *handler) risk(w http.ResponseWriter, r *request) error {
	nodes, err := parseRisk(r.URL.Query())
	if err != nil {
		return err
	}
	risk, err := h.service.Risk(r.Context(), r.user, nodes)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, risk)
}

func (h *handler) nodesCalibration(w http.ResponseWriter, r *request) error {
	q, err := parseNodesCalibration(r.URL.Query())
	if err != nil {
		return err
	}
	calibration, err := h.service.NodesCalibration(r.Context(), q)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, calibration)
}

func (h *handler) reservations(w http.ResponseWriter, r *request) error {
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

func (h *handler) report(w http.ResponseWriter, r *request) error {
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

func (h *handler) calibration(w http.ResponseWriter, r *request) error {
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

func (h *handler) shadow(w http.ResponseWriter, r *request) error {
	q, err := parseShadow(r.URL.Query())
	if err != nil {
		return err
	}
	shadow, err := h.service.Shadow(r.Context(), q)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, shadow)
}

func (h *handler) predict(w http.ResponseWriter, r *request) error {
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

func (h *handler) health(w http.ResponseWriter, r *request) error {
	health := h.service.Health(r.Context())
	status := http.StatusOK
	if !health.OK {
		status = http.StatusServiceUnavailable
	}
	return writeJSON(w, status, health)
}
