package chaos

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the driver named "sqlite"

	"github.com/varq-project/varq/test/cluster"
)

// Evidence is all that the checker looks at. Times are Unix seconds; 0 stands for none.
type Evidence struct {
	Submissions []*Submission
	Faults      []Fault
	Failures    []string
	Endings     []Ending
	End         float64             // from when on the campaign cancelled all jobs
	Sights      map[string][]Sight  `json:"-"` // by job name
	Runs        map[string][]JobRun `json:"-"` // by job name, oldest first
	Stamps      map[string][]Stamp  `json:"-"` // by job name
	Rows        []Row               `json:"-"`
}

// JobRun is one run of a job, as sacct tells it.
type JobRun struct {
	Job                          int64
	State                        string // its first word
	Submit, Eligible, Start, End int64
	Limit                        int64 // seconds
	Partition, QOS               string
	Nodes                        int
	Allocated                    bool // it had nodes
	Comment                      string
	Line                         string // as printed
}

// Stamp is what a job wrote itself: the time at which its work began or ended.
type Stamp struct {
	Begin    bool
	At       float64
	Restarts int
}

// Row is a promise in the ledger.
type Row struct {
	ID, User             string
	Job                  int64
	BeginTime, TimeLimit int64
	BeginBy, HoldUntil   int64
	WorkLimit, Nodes     int64
	Prob                 float64
	OnMiss               string
	Open                 bool
	State                string
	Start                int64
	Events               []Event
}

// Event is an event of a promise in the ledger.
type Event struct {
	At         int64
	Kind, Text string
}

// save saves in the folder of evidence what the campaign did, and what there is of varqd, Slurm
// and the jobs.
func (c *campaign) save(ctx context.Context) error {
	errs := []error{c.varqd.end(syscall.SIGTERM), c.saveAccounting(ctx)}
	for _, d := range []cluster.Daemon{cluster.Slurmctld, cluster.Slurmdbd, cluster.Slurmrestd} {
		errs = append(errs, copyFile(c.LogFile(d), c.evidence(string(d)+".log")))
	}
	ledgers, err := filepath.Glob(c.ledger() + "*")
	errs = append(errs, err)
	for _, name := range ledgers {
		errs = append(errs, copyFile(name, c.evidence(filepath.Base(name))))
	}
	for dir, name := range map[string]string{c.stamps(): "stamps", c.outputs(): "outputs"} {
		errs = append(errs, os.CopyFS(c.evidence(name), os.DirFS(dir)))
	}
	j := c.journal
	text, err := json.MarshalIndent(Evidence{Submissions: j.submissions, Faults: j.faults, Failures: j.failures, Endings: j.endings, End: j.end}, "", " ")
	return errors.Join(append(errs, err, os.WriteFile(c.evidence("campaign.json"), text, 0o644))...)
}

// copyFile copies a file. One that does not exist leaves none.
func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// sacctFormat is what is asked of accounting, with sacctFields fields.
const (
	sacctFormat = "JobIDRaw,JobName,State,Submit,Eligible,Start,End,TimelimitRaw,Partition,QOS,NNodes,Comment,NodeList"
	sacctFields = 13
)

// saveAccounting saves what sacct prints, once it knows the ends of all jobs or has had some time
// to learn them.
func (c *campaign) saveAccounting(ctx context.Context) error {
	began := time.Now()
	for {
		cmd := c.Command(ctx, "root", "sacct", "-aDXPn", "-S", c.began.Format("2006-01-02T15:04:05"), "-E", "now+1day", "-o", sacctFormat)
		cmd.Env = append(cmd.Env, "SLURM_TIME_FORMAT=%s")
		out, err := cmd.Output()
		complete := !strings.Contains(string(out), "|PENDING|") && !strings.Contains(string(out), "|RUNNING|")
		if err == nil && (complete || time.Since(began) > c.Paced(30*time.Second)) {
			return os.WriteFile(c.evidence("sacct.txt"), out, 0o644)
		}
		if time.Since(began) > cluster.Patience {
			return fmt.Errorf("sacct: %w", err)
		}
		time.Sleep(time.Second)
	}
}

// read reads the evidence that save has saved in a folder.
func read(dir string) (*Evidence, error) {
	var e Evidence
	text, err := os.ReadFile(filepath.Join(dir, "campaign.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, err
	}
	if e.Runs, err = readRuns(filepath.Join(dir, "sacct.txt")); err != nil {
		return nil, err
	}
	if e.Stamps, err = readStamps(filepath.Join(dir, "stamps")); err != nil {
		return nil, err
	}
	if e.Sights, err = readSights(filepath.Join(dir, "queue.log")); err != nil {
		return nil, err
	}
	e.Rows, err = readLedger(filepath.Join(dir, "ledger.db"))
	return &e, err
}

func readRuns(name string) (map[string][]JobRun, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	runs := map[string][]JobRun{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		w := strings.Split(lines.Text(), "|")
		if len(w) != sacctFields {
			return nil, fmt.Errorf("%s: %q", name, lines.Text())
		}
		// Unknown and None are 0
		number := func(i int) int64 { n, _ := strconv.ParseInt(w[i], 10, 64); return n }
		state, _, _ := strings.Cut(w[2], " ")
		runs[w[1]] = append(runs[w[1]], JobRun{
			Job: number(0), State: state, Submit: number(3), Eligible: number(4), Start: number(5), End: number(6),
			Limit: 60 * number(7), Partition: w[8], QOS: w[9], Nodes: int(number(10)), Comment: w[11],
			Allocated: w[12] != "None assigned", Line: lines.Text(),
		})
	}
	return runs, lines.Err()
}

func readStamps(dir string) (map[string][]Stamp, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	stamps := map[string][]Stamp{}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			var word string
			var s Stamp
			if _, err := fmt.Sscan(line, &word, &s.At, &s.Restarts); err != nil {
				return nil, fmt.Errorf("stamps of %s: %q: %w", f.Name(), line, err)
			}
			s.Begin = word == "begin"
			stamps[f.Name()] = append(stamps[f.Name()], s)
		}
	}
	return stamps, nil
}

func readSights(name string) (map[string][]Sight, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sights := map[string][]Sight{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		clock, line, _ := strings.Cut(lines.Text(), " ")
		at, err := strconv.ParseFloat(clock, 64)
		w := strings.Split(line, "|")
		if err != nil || len(w) != queueFields {
			return nil, fmt.Errorf("%s: %q", name, lines.Text())
		}
		limit := duration(w[3])
		sights[w[1]] = append(sights[w[1]], Sight{at, w[2], limit, w[5], w[6], w[7]})
	}
	return sights, lines.Err()
}

func readLedger(name string) (rows []Row, err error) {
	absolute, err := filepath.Abs(name) // a URL would take the first folder of another for a host
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: absolute}).String())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	found, err := db.Query(`SELECT id, user, job, begin_time, time_limit, begin_by, hold_until, work_limit, nodes, prob, on_miss, open, state, start
		FROM reservations ORDER BY promised_at, id`)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	at := map[string]int{}
	for found.Next() {
		var r Row
		if err := found.Scan(&r.ID, &r.User, &r.Job, &r.BeginTime, &r.TimeLimit, &r.BeginBy, &r.HoldUntil, &r.WorkLimit, &r.Nodes, &r.Prob, &r.OnMiss, &r.Open, &r.State, &r.Start); err != nil {
			return nil, err
		}
		at[r.ID] = len(rows)
		rows = append(rows, r)
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	events, err := db.Query(`SELECT plan, at, kind, text FROM events ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer events.Close()
	for events.Next() {
		var plan string
		var e Event
		if err := events.Scan(&plan, &e.At, &e.Kind, &e.Text); err != nil {
			return nil, err
		}
		rows[at[plan]].Events = append(rows[at[plan]].Events, e)
	}
	return rows, events.Err()
}
