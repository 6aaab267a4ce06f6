package server

import (
	"context"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
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
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/varqd/munge"
	"github.com/varq-project/varq/predictor/varqd/peers"
	"github.com/varq-project/varq/predictor/workload"
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
	turns       class  // of users
	openTurns   class  // of peers who need not be users
	thinkTurns  class  // of users, for what is computed: more at once would only make each slower
	longTurns   class  // of users, for what takes long: the others need not wait for it
	sizesTurns  class  // the same, for plans of jobs of several sizes
	gateTurns   class  // of users whose jobs ask whether their work may begin
	decoding    *turns // of addresses
	signing     *turns // of users
	latency     *prometheus.HistogramVec

	peers      Peers           // nil if none may connect
	sites      Sites           // nil if nothing is relayed
	relayTurns class           // of users at one site
	siteTurns  *turns          // of sites to which requests are relayed
	relayed    map[string]bool // the methods and paths that are
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
	h.relayed = map[string]bool{}
	route := func(method, path string, to access, answer answerer) {
		mux.HandleFunc(method+" "+path, func(w http.ResponseWriter, r *http.Request) { h.serve(path, to, w, r, answer) })
		if to.users {
			h.relayed[method+" "+path] = true
		}
	}
	// here is what users of this site may ask for, anywhere what those of others may too, and
	// between what sites' varqds ask each other.
	here, anywhere, between := access{}, access{users: true}, access{peers: true}
	route(http.MethodPost, api.PathPlan, anywhere, h.plan(true))
	route(http.MethodPost, api.PathQuote, anywhere, h.plan(false))
	route(http.MethodPost, api.PathProbe, anywhere, answer((*api.ProbeRequest).Check, func(r *api.ProbeRequest) *workload.Request { return &r.Job }, h.service.Probe))
	route(http.MethodPost, api.PathSize, anywhere, answer((*api.SizeRequest).Check, func(r *api.SizeRequest) *workload.Request { return &r.Job }, h.service.Size))
	route(http.MethodPost, api.PathBind, anywhere, act((*api.Binding).Check, h.service.Bind))
	route(http.MethodPost, api.PathCancel, anywhere, act((*api.Cancellation).Check, h.service.Cancel))
	route(http.MethodPost, api.PathConfirm, anywhere, act((*api.Confirmation).Check, h.service.Confirm))
	route(http.MethodPost, api.PathGate, here, reply((*api.Gate).Check, h.service.Gate))
	route(http.MethodPost, api.PathGroups, anywhere, reply((*api.GroupRequest).Check, h.service.RegisterGroup))
	route(http.MethodPost, api.PathGroupQuote, anywhere, reply((*api.GroupRequest).CheckQuote, h.service.QuoteGroup))
	route(http.MethodPost, api.PathGroupCancel, anywhere, act((*api.GroupCancellation).Check, h.service.CancelGroup))
	route(http.MethodPost, api.PathClaim, between, reply((*api.GroupClaim).Check, h.service.ClaimGroup))
	route(http.MethodPost, api.PathGroupStates, between, reply((*api.GroupsQuery).Check, h.service.GroupStates))
	route(http.MethodGet, api.PathDelays, between, h.delays)
	route(http.MethodGet, api.PathSites, here, h.bareSites)
	route(http.MethodPost, api.PathAccept, anywhere, reply((*api.Acceptance).Check, h.service.Accept))
	route(http.MethodGet, api.PathLimits, anywhere, h.limits)
	route(http.MethodGet, api.PathReservations, anywhere, h.reservations)
	route(http.MethodGet, api.PathReport, anywhere, h.report)
	route(http.MethodGet, api.PathCalibration, anywhere, h.calibration)
	route(http.MethodGet, api.PathShadow, anywhere, h.shadow)
	route(http.MethodPost, api.PathPredict, anywhere, answer((*api.PredictRequest).Check, func(r *api.PredictRequest) *workload.Request { return &r.Job }, h.service.Predict))
	route(http.MethodPost, api.PathWhen, anywhere, reply((*api.WhenQuery).Check, h.service.When))
	route(http.MethodPost, api.PathFlows, anywhere, reply((*api.FlowRequest).Check, h.service.PromiseFlow))
	route(http.MethodPost, api.PathFlowStates, anywhere, reply((*api.FlowsQuery).Check, h.service.Flows))
	route(http.MethodGet, api.PathNodes, anywhere, h.nodes)
	route(http.MethodGet, api.PathRisk, anywhere, h.risk)
	route(http.MethodGet, api.PathNodesScores, anywhere, h.nodesCalibration)
	route(http.MethodPost, api.PathVitals, here, h.vitals)
	route(http.MethodGet, api.PathHealth, access{open: true, users: true, peers: true}, h.health)
	route(http.MethodGet, api.PathOpenAPI, access{open: true}, func(w http.ResponseWriter, _ *request) error {
		w.Header().Set("Content-Type", "application/json")
		_, err := w.Write(openAPI)
		return err
	})
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	route(http.MethodGet, api.PathMetrics, access{open: true}, func(w http.ResponseWriter, r *request) error {
		metrics.ServeHTTP(w, r.Request)
		return nil
	})
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		route(method, api.PathRelay+"{site}/{path...}", here, h.relay)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		h.serve("other", access{open: true}, w, r, func(http.ResponseWriter, *request) error {
			return unknownPath(r.Method, r.URL.Path)
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
	// from are the addresses from which it seems to come, if it is proven who asks: of the other
	// end, and of the host where the credential was made if munge knows that.
	from []netip.Addr
	// site is the one whose varqd asks, if that is another.
	site string
}

// answerer writes the answer to a request, or returns an error.
type answerer func(w http.ResponseWriter, r *request) error

// serve answers one request: in time, and with an api.Error when it fails, be it by a panic.
// What is not open needs a proven user.
func (h *handler) serve(path string, to access, w http.ResponseWriter, r *http.Request, answer answerer) {
	began := time.Now()
	p := newPage()
	h.fill(p, path, to, w, r, answer)
	h.latency.WithLabelValues(path, strconv.Itoa(p.status)).Observe(time.Since(began).Seconds())
	p.header.Set(api.APIs, api.API)
	p.header.Set(api.ServerVersion, api.Version)
	p.send(w)
}

// fill makes the page that answers a request.
func (h *handler) fill(p *page, path string, to access, w http.ResponseWriter, r *http.Request, answer answerer) {
	ctx, cancel := context.WithTimeout(r.Context(), patience(r))
	defer cancel()
	fail := func(err error) {
		status, text := statusOf(err), err.Error()
		switch site := r.PathValue("site"); {
		case ctx.Err() != nil && status == http.StatusInternalServerError && site != "":
			status, text = http.StatusServiceUnavailable, fmt.Sprintf("this site's varqd is too busy with what it relays to site %.50s, and has not relayed this; try again in a moment", site)
		case ctx.Err() != nil && status == http.StatusInternalServerError:
			status, text = http.StatusServiceUnavailable, "varqd is too busy to answer in time"
		case errors.Is(err, sqlitefile.ErrUnwritten):
			h.log.Error("request failed", "path", path, "error", err)
			text = "varqd could not write that down: its disk may be full, of which its log and /healthz tell more; try again later"
		case status == http.StatusInternalServerError:
			h.log.Error("request failed", "path", path, "error", err)
			text = "internal error; varqd's log has more"
		}
		p.fail(status, text)
		if r.TLS != nil && status == http.StatusUnauthorized {
			// the next one comes with the certificate that the site has then
			p.header.Set("Connection", "close")
		}
	}
	req, err := h.read(w, r.WithContext(ctx), to)
	if err != nil {
		fail(err)
		return
	}
	turns, whose := h.turnsOf(path, req)
	do := func() error { return inTurn(ctx, turns.users, whose, func() error { return answer(p, req) }) }
	if req.site != "" {
		err = inTurn(ctx, turns.sites, req.site, do)
	} else {
		err = do()
	}
	if err != nil {
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

// turnsOf returns the turns in which a request at a path is worked on, and whose they are.
func (h *handler) turnsOf(path string, r *request) (of class, whose string) {
	if r.user == "" {
		return h.openTurns, connOf(r.Context()).peer
	}
	switch path {
	case api.PathProbe, api.PathSize:
		return h.longTurns, r.user
	case api.PathPlan, api.PathQuote:
		if ofSizes(r.body) {
			return h.sizesTurns, r.user
		}
		return h.thinkTurns, r.user
	case api.PathPredict, api.PathWhen, api.PathFlows, api.PathGroupQuote, api.PathReservations, api.PathReport, api.PathCalibration, api.PathShadow, api.PathNodes, api.PathNodesScores, api.PathRisk, api.PathLimits:
		return h.thinkTurns, r.user
	case api.PathGate: // as with what is relayed
		return h.gateTurns, r.user
	}
	// who waits for another site keeps nobody from this one
	if site := r.PathValue("site"); site != "" {
		return h.relayTurns, site + " " + r.user
	}
	return h.turns, r.user
}

// ofSizes reports whether a request for a plan is about a job of several sizes, for which as many
// plans are made. What is none is refused later.
func ofSizes(body []byte) bool {
	var q struct {
		Sizes []json.RawMessage `json:"sizes"`
	}
	return json.Unmarshal(body, &q) == nil && len(q.Sizes) > 1
}

// patience is for how long a request is worked on.
func patience(r *http.Request) time.Duration {
	if ms, err := strconv.ParseInt(r.Header.Get(api.Within), 10, 64); err == nil && ms > 0 && ms < requestTime.Milliseconds() {
		return time.Duration(ms) * time.Millisecond
	}
	return requestTime
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
func (h *handler) read(w http.ResponseWriter, r *http.Request, to access) (*request, error) {
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
	if r.TLS != nil {
		return req, h.admitSite(c, req, to)
	}
	if forged, ok := r.Header[api.ForUser]; ok {
		h.log.Warn("a request in another user's name", "from", c.peer, "user", forged)
		return nil, api.Fault(api.ErrForbidden, fmt.Sprintf("only the varqd of another site may ask for others (header %s)", api.ForUser))
	}
	switch authorization := r.Header.Get("Authorization"); {
	case c.local && to.open, !c.local && to.open && authorization == "":
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
	if _, is := peers.Site(req.user); is {
		return nil, api.Fault(errUnauthorized, fmt.Sprintf("%q is not a name of a user", req.user))
	}
	if !h.connections.prove(c, userKey(uid)) {
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
		req, err := readOwn(r, (*api.PlanRequest).Check, func(r *api.PlanRequest) *workload.Request { return &r.Job })
		if err != nil {
			return err
		}
		answer, err := h.service.Plan(r.Context(), r.user, req, promise)
		if err != nil {
			return err
		}
		// nobody would take up the promise
		if gone := r.Context().Err(); gone != nil && promise && answer.Plan != nil {
			return errors.Join(gone, h.service.Cancel(context.WithoutCancel(r.Context()), r.user, api.Cancellation{Plan: answer.Plan.ID}))
		}
		return writeJSON(w, http.StatusOK, answer)
	}
}

// answer answers a request about a job of whoever asks, once it is checked, with what get returns.
func answer[T, A any](check func(*T) error, job func(*T) *workload.Request, get func(ctx context.Context, user string, v *T) (A, error)) answerer {
	return func(w http.ResponseWriter, r *request) error {
		v, err := readOwn(r, check, job)
		if err != nil {
			return err
		}
		answer, err := get(r.Context(), r.user, v)
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, answer)
	}
}

// act answers a request that do carries out once it is checked, without a body.
func act[T any](check func(*T) error, do func(ctx context.Context, user string, v T) error) answerer {
	return func(w http.ResponseWriter, r *request) error {
		v, err := read(r.body, check)
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

// reply answers a request, once it is checked, with what get returns.
func reply[T, A any](check func(*T) error, get func(ctx context.Context, user string, v T) (A, error)) answerer {
	return func(w http.ResponseWriter, r *request) error {
		v, err := read(r.body, check)
		if err != nil {
			return err
		}
		answer, err := get(r.Context(), r.user, *v)
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, answer)
	}
}

func (h *handler) limits(w http.ResponseWriter, r *request) error {
	limits, err := h.service.Limits(r.Context(), r.user)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, limits)
}

func (h *handler) delays(w http.ResponseWriter, r *request) error {
	delays, err := h.service.Delays(r.Context(), r.user)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, delays)
}

func (h *handler) bareSites(w http.ResponseWriter, r *request) error {
	sites, err := h.service.Sites(r.Context(), r.user)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, sites)
}

func (h *handler) nodes(w http.ResponseWriter, r *request) error {
	nodes, err := h.service.Nodes(r.Context(), r.user)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, nodes)
}

func (h *handler) vitals(w http.ResponseWriter, r *request) error {
	v, err := read(r.body, (*api.Vitals).Check)
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
	texts, err := lastOf(list)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, texts)
}

// maxList bounds an answer of reservations, in bytes, which varqd keeps until it is sent. It is
// room for api.LeastPage of them.
const maxList = 4 << 20

// lastOf returns the end of a list, as much of it as an answer may have.
func lastOf(list []api.Reservation) ([]json.RawMessage, error) {
	texts := make([]json.RawMessage, len(list))
	size := 0
	for i := len(list) - 1; i >= 0; i-- {
		text, err := json.Marshal(&list[i])
		if err != nil {
			return nil, err
		}
		if size += len(text); size > maxList && i < len(list)-1 {
			return texts[i+1:], nil
		}
		texts[i] = text
	}
	return texts, nil
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
	calibration, err := h.service.Calibration(r.Context(), r.user, q)
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

func (h *handler) health(w http.ResponseWriter, r *request) error {
	health := h.service.Health(r.Context())
	status := http.StatusOK
	if !health.OK {
		status = http.StatusServiceUnavailable
	}
	return writeJSON(w, status, health)
}
