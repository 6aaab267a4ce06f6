// Package daemon puts varqd together. It opens the files, makes the client of Slurm, and serves the
// API. It runs several loops: learn reads accounting, refresh reads the cluster's limits, watch
// looks at the queue, follow passes snapshots of the queue to the scorer and the forecasters, tend
// looks at the nodes, and others speak with other sites. See Run.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/desk"
	"github.com/varq-project/varq/predictor/live/faultscore"
	"github.com/varq-project/varq/predictor/live/flows"
	"github.com/varq-project/varq/predictor/live/groups"
	"github.com/varq-project/varq/predictor/live/health"
	"github.com/varq-project/varq/predictor/live/history"
	"github.com/varq-project/varq/predictor/live/idle"
	"github.com/varq-project/varq/predictor/live/ingest"
	"github.com/varq-project/varq/predictor/live/keeper"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/live/notice"
	"github.com/varq-project/varq/predictor/live/outlook"
	"github.com/varq-project/varq/predictor/live/premises"
	"github.com/varq-project/varq/predictor/live/records"
	"github.com/varq-project/varq/predictor/live/resize"
	"github.com/varq-project/varq/predictor/live/scores"
	"github.com/varq-project/varq/predictor/live/selfscore"
	"github.com/varq-project/varq/predictor/live/shadow"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/live/vitals"
	"github.com/varq-project/varq/predictor/live/waits"
	"github.com/varq-project/varq/predictor/slurm/sacctmgr"
	"github.com/varq-project/varq/predictor/slurm/scontrol"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/doctor"
	"github.com/varq-project/varq/predictor/varqd/munge"
	"github.com/varq-project/varq/predictor/varqd/nodeaddr"
	"github.com/varq-project/varq/predictor/varqd/server"
	"github.com/varq-project/varq/predictor/varqd/sitecert"
	"github.com/varq-project/varq/predictor/workload"
)

// Options configure a Daemon.
type Options struct {
	Config config.Config
	// Slurm is the cluster. If nil it is slurmrestd, as configured, with Scontrol and Sacctmgr.
	Slurm Slurm
	// Scontrol and Sacctmgr read what slurmrestd leaves out. Scontrol changes the jobs that
	// slurmrestd rejects.
	Scontrol scontrol.Command
	Sacctmgr sacctmgr.Command
	// Now is the host's clock, with a monotonic reading; nil stands for time.Now.
	Now    func() time.Time
	Reload Reload
	Log    *slog.Logger
}

// Daemon is one varqd.
type Daemon struct {
	config    config.Config
	log       *slog.Logger
	slurm     Slurm
	clock     *clock
	file      *sqlitefile.File // of the ledger, and of what else is kept
	ledger    *ledger.Ledger
	scores    *scores.Store
	shadows   *shadow.Store
	rounds    *faultscore.Store
	cache     *history.History
	outlook   *outlook.Outlook
	ingest    *ingest.Ingest
	groups    *groups.Groups
	homes     *homes
	identity  *sitecert.Identity // nil without a certificate
	premises  *premises.Premises
	desk      *desk.Desk
	keeper    *keeper.Keeper
	records   *records.Records
	flows     *flows.Keeper
	resizer   *resize.Resizer
	resizes   *resize.Store
	server    *server.Server
	scorer    *selfscore.Scorer
	faults    *faultscore.Scorer
	shadow    *shadow.Watcher   // nil unless in shadow mode
	messenger *notice.Messenger // nil if no program is told of promises
	nodes     health.Monitor
	vitals    *vitals.Monitor // of the nodes that have an agent
	idle      *idle.Store
	abroad    sitesAbroad
	addresses *nodeaddr.Nodes
	risks     health.Risks
	nodesAt   atomic.Int64              // when the nodes were read last, Unix seconds, or 0
	running   atomic.Pointer[[]running] // the jobs that run and have nodes
	sites     forecasters               // the site's own
	reloading Reload
	unread    atomic.Pointer[string] // why the policy could not be read anew, or nil
	problems  *problems
	reads     *reads // of the queue
	looks     *looks // at the queue
	errors    *prometheus.CounterVec
	looked    prometheus.Gauge
	jobs      *prometheus.GaugeVec     // in the queue, by state
	unwritten prometheus.Counter       // what the ledger's file has not taken
	requests  *prometheus.HistogramVec // to slurmrestd
	cleanups  cleanups                 // of Close

	// when the ledger's first promise was made; 0 as long as none is known
	first int64
	odds  []forecast.Odds // as d.scores has them
	seen  chan *look.Look // holds at most one, from watch to follow

	limitsRead *latch // the limits and the nodes have been read once
	// follow has observed the first snapshot, or an attempt to read the queue has failed
	queueTried *latch
	pastLoaded *latch // ingest.Load has succeeded
	nodesSeen  *latch // the nodes have been looked at
}

// New returns a daemon whose files are open. Run starts it, and Close closes the files.
func New(o Options) (_ *Daemon, err error) {
	c := o.Config
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &Daemon{
		config: c, log: o.Log, reloading: o.Reload, clock: newClock(o.Now), problems: newProblems(o.Log), reads: newReads(c.Watch, o.Now), looks: newLooks(c.Watch, o.Now),
		seen: make(chan *look.Look, 1), limitsRead: newLatch(), queueTried: newLatch(), pastLoaded: newLatch(), nodesSeen: newLatch(), addresses: nodeaddr.New(),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if err := doctor.Unguarded(&c); err != nil {
		return nil, err
	}
	user := func() string { return "" }
	if o.Slurm == nil {
		client, err := newSlurmClient(c.Slurmrestd, o.Now)
		if err != nil {
			return nil, err
		}
		client.scontrol, client.sacctmgr = o.Scontrol, o.Sacctmgr
		o.Slurm, user = client, client.judged
	}
	watching := c.Plan.Mode == config.ModeShadow
	if watching {
		o.Slurm = untouched{o.Slurm}
	}
	d.makeMetrics()
	o.Slurm = placed{metered{o.Slurm, d.looks.all, d.pastLoaded, d.requests}, func(j *workload.Job) { d.premises.SetNodeSet(j) }}
	d.slurm = o.Slurm
	if err := d.openFiles(); err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	now := d.clock.now
	d.sites = newForecasters(c.Forecasters, d.replay, d.risks.Replay, o.Log)
	d.outlook = outlook.New(outlook.Options{SiteForecasters: d.sites.members(), Confidence: c.Forecast.Confidence, OldOdds: d.odds, Now: now})
	d.ingest = ingest.New(ingest.Options{
		Cache: d.cache, Source: o.Slurm, NewModel: d.newModel, Days: c.Forecast.Days, OnAccounting: d.onAccounting,
		OnStarts: waits.New(registry, c.Metrics.Accounts).Started, Now: now, Log: o.Log,
	})
	var tell func(api.Notice)
	if c.Notices.Command != "" {
		d.messenger = notice.New(c.Notices.Command, time.Duration(c.Notices.Timeout), o.Log)
		tell = d.messenger.Tell
	}
	self := ownUser()
	if c.Server.TLS.Given() {
		if d.identity, err = openIdentity(&c, o.Now, o.Log); err != nil {
			return nil, err
		}
	}
	known := d.newPeers(self)
	if d.groups, err = groups.New(context.Background(), groups.Options{
		Site: c.OwnSite(), Ledger: d.ledger, Peer: known.groupsPeer, Deaf: known.deaf(&c), Now: now, Prob: c.Plan.Prob, Log: o.Log,
	}); err != nil {
		return nil, err
	}
	d.homes = newHomes(d.groups, self, &c, d.identity)
	if d.abroad, err = newSitesAbroad(&c, d.idle, now, o.Now, o.Log); err != nil {
		return nil, err
	}
	d.cleanups.add("sites", d.abroad.close)
	prices, unit := c.Site.Prices(time.Local)
	slurms := watched{o.Slurm, user, d.problems, o.Log}
	forecasts := keeperOutlook{d.outlook, d.ingest, d.clock, d.problems}
	nodes := keeperHealth{&d.risks, &d.nodes}
	d.premises = premises.New(premises.Options{
		Slurm:   slurms,
		Observe: d.ingest.ObserveCluster,
		Loaded:  forecasts.Ready,
		Now:     now,
		Zone:    time.Local,
		Stale:   c.Plan.Stale.Seconds(),
	})
	d.desk = desk.New(desk.Options{
		Premises:   d.premises,
		Ledger:     d.ledger,
		Outlook:    forecasts,
		Health:     nodes,
		Site:       desk.Site{Power: c.Site.Power, Tariff: prices, Unit: unit},
		Idle:       idleHere{d.idle},
		Job:        slurms.Job,
		Ended:      slurms.Ended,
		Homes:      d.homes,
		Behind:     behind(d.scores, o.Log),
		RiskyNodes: c.Plan.RiskyNodes,
		Now:        now,
		Zone:       time.Local,
		Prob:       c.Plan.Prob,
		Confidence: c.Forecast.Confidence,
		Shadow:     watching,
		Policy:     c.Rules(),
		Horizon:    c.Plan.Horizon.Seconds(),
		MaxHold:    c.Plan.MaxHold,
		Log:        o.Log,
		Metrics:    deskMetrics(registry),
	})
	d.keeper = keeper.New(keeper.Options{
		Desk:    d.desk,
		Ledger:  d.ledger,
		Slurm:   slurms,
		Outlook: forecasts,
		Health:  nodes,
		Homes:   d.homes,
		Now:     now,
		Zone:    time.Local,
		Grace:   c.Watch.Grace.Seconds(),
		Settle:  300,
		Tell:    tell,
		Log:     o.Log,
		Metrics: keeper.NewMetrics(registry),
	})
	d.records = &records.Records{Ledger: d.ledger, Premises: d.premises, Describe: d.keeper.Describe, Now: now, Zone: time.Local}
	d.flows = flows.New(flows.Options{Store: flows.NewStore(d.file), Desk: desk.Flows{Desk: d.desk}, Slurm: slurms, Operator: d.premises.Operator, Tell: tell, Now: now, Log: o.Log})
	d.resizer = resize.New(resize.Options{Store: d.resizes, Slurm: o.Slurm, Sizer: d.desk, Shadow: watching, Now: now, Log: o.Log})
	scored := selfscore.Reader{Scores: d.scores, Now: now, Operator: d.premises.Operator}
	d.scorer, err = selfscore.New(context.Background(), selfscore.Options{
		Store: d.scores, Ask: d.ask, AskPending: d.askPending, AskDependent: desk.Flows{Desk: d.desk}.Wait, Most: mostScored, Rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		Ranked: d.learnDelay, Calibration: scored.Rows, Log: o.Log,
		Metrics: selfscore.NewMetrics(registry, scored.Rows, now, o.Log),
	})
	if err != nil {
		return nil, err
	}
	foretold := faultscore.Reader{Store: d.rounds}
	d.faults, err = faultscore.New(context.Background(), faultscore.Options{
		Store: d.rounds, Rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), Metrics: faultscore.NewMetrics(registry, foretold, now, o.Log),
	})
	if err != nil {
		return nil, err
	}
	if watching {
		d.shadow, err = shadow.New(context.Background(), shadow.Options{
			Store: d.shadows, Foresee: d.desk.Foresee, Most: mostShadows, Rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		}, now())
		if err != nil {
			return nil, err
		}
	}
	d.server = server.New(server.Options{
		Service:     service{d.desk, d.keeper, d.flows, d.records, d.groups, scored, foretold, shadow.Reader{Store: d.shadows, Watching: watching, Since: now(), Now: now}, d},
		Credentials: munge.Munge{Socket: c.Server.MungeSocket},
		Peers:       known,
		Sites:       relay{d.homes, o.Log},
		Log:         o.Log,
		Metrics:     registry,
	})
	d.register(registry)
	return d, nil
}

// lockLedger is statefile.Lock, which it tries for a second: what a varqd was just starting when it
// was killed has the lock for a moment more.
func lockLedger(path string) (release func() error, err error) {
	for range 20 {
		if release, err = statefile.Lock(path); !errors.Is(err, statefile.ErrLocked) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return release, err
}

// openFiles opens the daemon's files.
func (d *Daemon) openFiles() error {
	release, err := lockLedger(d.config.Ledger.Path)
	if err != nil {
		return err
	}
	d.cleanups.add("lock of the ledger", release)
	file, err := statefile.Open(d.config.Ledger.Path)
	if err != nil {
		return err
	}
	d.file = file
	d.cleanups.add("ledger", file.Close)
	file.Watch = d.noteWrite
	d.ledger, d.scores, d.shadows, d.rounds = ledger.New(file), scores.New(file), shadow.NewStore(file), faultscore.NewStore(file)
	d.idle, d.resizes = idle.NewStore(file), resize.NewStore(file)
	if d.odds, err = d.scores.Odds(context.Background()); err != nil {
		return err
	}
	var aside string
	if d.vitals, err = vitals.New(context.Background(), vitals.NewStore(file)); err != nil {
		return err
	}
	if d.cache, aside, err = history.Open(d.config.History.Path); err != nil {
		return err
	}
	d.cleanups.add("history", d.cache.Close)
	if aside != "" {
		d.log.Warn("the history was damaged, or written by a later varq, and will be read again from accounting", "moved_to", aside)
	}
	return nil
}

// Close closes the daemon's files.
func (d *Daemon) Close() error { return d.cleanups.run() }

// stopTime bounds how long varqd takes to stop: requests in progress may take so long, and its
// loops.
const stopTime = 10 * time.Second

// Run serves until ctx is done or serving fails. That ctx is done is not an error. When Run
// returns, every goroutine that it started has ended, unless the error is errUnended.
func (d *Daemon) Run(ctx context.Context) error {
	listeners, err := d.listen()
	if err != nil {
		return err
	}
	asked := ctx
	ctx, stop := context.WithCancelCause(asked)
	defer stop(nil)
	var running sync.WaitGroup
	for l, serve := range listeners {
		running.Go(func() {
			if err := serve(l); err != nil {
				stop(fmt.Errorf("serve %s: %w", l.Addr(), err))
			}
		})
		d.log.Info("listening", "address", l.Addr().String())
	}
	notify(systemd.SdNotifyReady)
	running.Go(func() { d.learn(ctx) })
	running.Go(func() { d.refresh(ctx) })
	running.Go(func() { d.watch(ctx) })
	running.Go(func() { d.follow(ctx) })
	running.Go(func() { d.tend(ctx) })
	running.Go(func() { d.homes.exchange(ctx, d.log) })
	if d.identity != nil {
		running.Go(func() { d.watchCertificate(ctx) })
	}
	running.Go(func() { d.abroad.run(ctx) })
	if d.messenger != nil {
		running.Go(func() { d.messenger.Run(ctx) })
	}
	running.Go(func() { d.watchdog(ctx) })
	running.Go(func() { d.reload(ctx) })
	running.Go(func() { d.sites.run(ctx, d.pastLoaded, d.nodesSeen) })

	<-ctx.Done()
	notify(systemd.SdNotifyStopping)
	d.log.Info("stopping")
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	err = errors.Join(d.server.Shutdown(closing), ended(closing, &running))
	// The cause is that of asked, whatever its maker says why it is done, unless serving has
	// failed.
	if cause := context.Cause(ctx); !errors.Is(cause, context.Cause(asked)) {
		err = errors.Join(cause, err)
	}
	return err
}

// errUnended is the error of a daemon that some of its goroutines keep from stopping in time.
var errUnended = errors.New("varqd hangs, and stops without having ended what it was doing; its ledger is whole")

// ended waits until those that are running have ended. It returns errUnended if ctx is done first.
func ended(ctx context.Context, running *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errUnended
	}
}

// listen opens the unix socket and, if they are configured, the TCP address and that for other
// sites' varqds. It returns what serves each.
func (d *Daemon) listen() (_ map[net.Listener]func(net.Listener) error, err error) {
	listeners := map[net.Listener]func(net.Listener) error{}
	defer func() {
		if err != nil {
			for l := range listeners {
				err = errors.Join(err, l.Close())
			}
		}
	}()
	local, err := server.ListenUnix(d.config.Server.Socket)
	if err != nil {
		return nil, err
	}
	listeners[local] = d.server.Serve
	for _, at := range []struct {
		address string
		serve   func(net.Listener) error
	}{{d.config.Server.Listen, d.server.Serve}, {d.config.Server.TLS.Listen, d.serveSites}} {
		if at.address == "" {
			continue
		}
		remote, err := net.Listen("tcp", at.address)
		if err != nil {
			return nil, err
		}
		listeners[remote] = at.serve
	}
	return listeners, nil
}

// serveSites serves the varqds of other sites.
func (d *Daemon) serveSites(l net.Listener) error { return d.server.ServeTLS(l, d.identity.Server()) }
