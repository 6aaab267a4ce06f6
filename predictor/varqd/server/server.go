// Package server serves varqd's API, which is JSON over HTTP. Clients connect in three ways:
//   - On a unix socket the kernel identifies the user.
//   - On TCP a munge credential on each request identifies the user. A munge credential on each
//     answer proves that varqd made the answer, for this request.
//   - On TLS a certificate identifies the site whose varqd asks. That varqd says for which user it
//     asks. The user must be one for whom the site may speak.
//
// Invariant: nothing else in a request decides which user asks.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/munge"
)

// Service answers the requests. An error of one of package api's kinds reaches the
// user in its own words. Any other is logged, and the user reads of an internal
// error.
type Service interface {
	// Plan plans a reservation of user's; with promise it is written down and the
	// plan has an identifier.
	Plan(ctx context.Context, user string, req *api.PlanRequest, promise bool) (api.PlanAnswer, error)
	// Probe tells what user could be promised for a job of several sizes in a window of time.
	Probe(ctx context.Context, user string, req *api.ProbeRequest) (api.ProbeAnswer, error)
	// Sites tells how the clusters are that have no varqd.
	Sites(ctx context.Context, user string) ([]api.SiteState, error)
	// Size tells which of several sizes user's job had better have if it is submitted now.
	Size(ctx context.Context, user string, req *api.SizeRequest) (api.SizeAnswer, error)
	// Bind ties a plan of user's to one of her jobs.
	Bind(ctx context.Context, user string, b api.Binding) error
	// Cancel takes back a plan of user's that no job has taken up.
	Cancel(ctx context.Context, user string, c api.Cancellation) error
	// Confirm confirms a tentative promise of user's.
	Confirm(ctx context.Context, user string, c api.Confirmation) error
	// Gate tells whether the work of a job of user's, which is a member of a group, may begin.
	Gate(ctx context.Context, user string, g api.Gate) (api.GateAnswer, error)
	// QuoteGroup tells with what probability a group succeeds, and RegisterGroup keeps user's group
	// from then on.
	QuoteGroup(ctx context.Context, user string, r api.GroupRequest) (api.GroupQuote, error)
	RegisterGroup(ctx context.Context, user string, r api.GroupRequest) (api.GroupQuote, error)
	// CancelGroup gives a group of user's up.
	CancelGroup(ctx context.Context, user string, c api.GroupCancellation) error
	// ClaimGroup tells whether the work of a member of a group that is kept here may begin, and
	// GroupStates what has become of such groups. user is whose they are, or a site's varqd.
	ClaimGroup(ctx context.Context, user string, c api.GroupClaim) (api.GateAnswer, error)
	GroupStates(ctx context.Context, user string, q api.GroupsQuery) ([]api.GroupState, error)
	// Delays tells another site's varqd how the delays of this one go.
	Delays(ctx context.Context, user string) (api.Delays, error)
	// Accept raises the ceiling on the cost of idle nodes of a reservation of user's, and moves its
	// job.
	Accept(ctx context.Context, user string, a api.Acceptance) (api.Accepted, error)
	// Limits tells what the site's policy allows user, and what she uses of it.
	Limits(ctx context.Context, user string) (api.Limits, error)
	// Reservations lists those that user may see.
	Reservations(ctx context.Context, user string, q api.ReservationsQuery) ([]api.Reservation, error)
	// Report compares promises and outcomes of those that user may see.
	Report(ctx context.Context, user string, q api.ReportQuery) (api.Report, error)
	// Calibration tells how far forecasts are to be believed.
	Calibration(ctx context.Context, user string, q api.CalibrationQuery) (api.Calibration, error)
	// Shadow tells what would have been promised, and what would have come of it.
	Shadow(ctx context.Context, q api.ShadowQuery) (api.Shadow, error)
	// Predict bounds the wait of a job submitted now.
	Predict(ctx context.Context, user string, req *api.PredictRequest) (api.Prediction, error)
	// When tells when jobs that wait, and that user may see, are forecast to start and to end.
	When(ctx context.Context, user string, q api.WhenQuery) (api.When, error)
	// PromiseFlow promises when jobs of user's that wait for one another have ended, or quotes that,
	// and Flows lists such promises.
	PromiseFlow(ctx context.Context, user string, req api.FlowRequest) (api.FlowAnswer, error)
	Flows(ctx context.Context, user string, q api.FlowsQuery) (api.Flows, error)
	// Nodes lists the nodes, and how probable it is that they fail, if user may see them.
	Nodes(ctx context.Context, user string) (api.Nodes, error)
	// Risk tells how probable it is that one of these nodes fails.
	Risk(ctx context.Context, user string, nodes []string) (api.Risk, error)
	// NodesCalibration tells how far these forecasts are to be believed.
	NodesCalibration(ctx context.Context, q api.NodesCalibrationQuery) (api.NodesCalibration, error)
	// Vitals takes in what the agent on a node measures. The request seems to come from all the
	// addresses in from.
	Vitals(ctx context.Context, user string, from []netip.Addr, v api.Vitals) error
	// Health tells how varqd itself is.
	Health(ctx context.Context) api.Health
}

// Credentials makes munge credentials, and tells who made one.
type Credentials interface {
	// Encode returns a credential of this process's user that carries payload.
	Encode(ctx context.Context, payload []byte) (credential string, err error)
	// Decode returns who made credential, and its payload. A
	// credential is good only once; a bad one is munge.ErrInvalid.
	Decode(ctx context.Context, credential string) (maker munge.Maker, payload []byte, err error)
}

// Options configure a Server.
type Options struct {
	Service Service
	// Credentials is needed on TCP only.
	Credentials Credentials
	// UserName returns the name of a user id; nil asks the operating system.
	UserName func(uid uint32) (string, error)
	// Peers is needed on TLS only.
	Peers Peers
	// Sites has the other sites to which requests are relayed; nil if there are none.
	Sites   Sites
	Log     *slog.Logger
	Metrics *prometheus.Registry
}

// Limits of what one client can make the server do.
const (
	maxBody        = 64 << 10
	maxHeader      = 32 << 10
	maxConnections = 256  // of one user, or unproven of one address
	maxUnproven    = 2048 // connections whose user is not proven yet
	// requests of users that change something, in Slurm or on disk, being worked on; others wait
	// for their turn
	maxAtOnce = 64
	maxOfOne  = 16 // of them, those of one user
	// requests being worked on for which varqd computes: so many, or two of a processor; of one
	// user half of them
	leastThinking = 4
	maxOpen       = 16 // requests being worked on that need no user
	maxOpenOfOne  = 4  // of them, those of one peer
	// requests being worked on for which many plans are made: probes, questions about sizes; and as
	// many for plans of several sizes
	maxLong       = 2
	maxLongOfOne  = 1    // of them, those of one user
	maxGates      = 1024 // questions whether work may begin, which may wait for another site
	maxGatesOfOne = 16   // of them, those of one user
	maxRelayed    = 64   // requests being relayed to other sites
	maxRelayedTo  = 16   // of them, those to one site
	maxRelayedOf  = 4    // of those, one user's
	maxMunge      = 16   // credentials being decoded, and as many being made
	maxMungeOfOne = 8    // of them, those from one address, or for one user
	headerTime    = 5 * time.Second
	readTime      = 15 * time.Second // header and body
	requestTime   = 20 * time.Second
)

// Server is a server of the API.
type Server struct {
	http        *http.Server
	connections *connections
}

// New returns a server that listens nowhere yet.
func New(o Options) *Server {
	s := &Server{connections: newConnections()}
	thinking := max(leastThinking, 2*runtime.GOMAXPROCS(0))
	h := &handler{
		service: o.Service, credentials: o.Credentials, users: newUsers(o.UserName), log: o.Log, connections: s.connections,
		turns: newClass(maxAtOnce, maxOfOne), thinkTurns: newClass(thinking, thinking/2), sizesTurns: newClass(maxLong, maxLongOfOne), openTurns: newClass(maxOpen, maxOpenOfOne), longTurns: newClass(maxLong, maxLongOfOne), gateTurns: newClass(maxGates, maxGatesOfOne), decoding: newTurns(maxMunge, maxMungeOfOne), signing: newTurns(maxMunge, maxMungeOfOne),
		latency: newLatency(o.Metrics),
		peers:   o.Peers, sites: o.Sites, siteTurns: newTurns(maxRelayed, maxRelayedTo),
		// who waits there holds nothing that others need
		relayTurns: newClass(maxUnproven, maxRelayedOf),
	}
	s.http = &http.Server{
		Handler:           h.routes(o.Metrics),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      requestTime + 10*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(httpLog{o.Log}, "", 0),
		ConnContext:       withPeer,
		ConnState: func(c net.Conn, state http.ConnState) {
			if state == http.StateIdle {
				s.connections.answered(below(c))
			}
		},
	}
	return s
}

// ListenUnix listens on the unix socket path, which every user of the host may
// use. A socket left behind by a process that is gone is replaced; one that
// still answers is an error.
func ListenUnix(path string) (net.Listener, error) {
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		c.Close()
		return nil, fmt.Errorf("listen on %s: another process answers there", path)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Serve answers on l until Shutdown. A unix socket's users are known by their
// peer credentials, all others must send munge credentials.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(&listener{l, s.connections})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ServeTLS answers other sites' varqds on l, which are known by their certificates, until Shutdown.
// config asks for those.
func (s *Server) ServeTLS(l net.Listener, config *tls.Config) error {
	err := s.http.Serve(tls.NewListener(&listener{l, s.connections}, config))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// httpLog logs what package http complains about. Most of it is clients' trouble, and not varqd's.
type httpLog struct{ log *slog.Logger }

func (l httpLog) Write(text []byte) (int, error) {
	level, message := slog.LevelDebug, strings.TrimSpace(string(text))
	// a certificate that is none of a site's, or has expired
	if strings.Contains(message, "TLS handshake error") {
		level = slog.LevelWarn
	}
	l.log.Log(context.Background(), level, message)
	return len(text), nil
}

// Shutdown stops listening and waits for the requests in progress.
func (s *Server) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }
