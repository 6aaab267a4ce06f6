// Package sacct parses past jobs from the output of Slurm's sacct command.
package sacct

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// Fields has the columns that Records needs, as in
//
//	SLURM_TIME_FORMAT=%s sacct -aXDP -o JobIDRaw,User,... -S ... -E ...
//
// A file may have more columns, in any order, of which Records reads Constraints and Reason. Its
// first line names the columns. As constraints may have a "|", the option --delimiter may name
// separator instead.
var Fields = []string{"JobIDRaw", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible", "Start", "End",
	"TimelimitRaw", "ReqTRES", "AllocTRES"}

// separator is a delimiter that no name of anything in Slurm has.
const separator = "\x1f"

// maxLine is the longest line read, in bytes.
const maxLine = 1 << 20

// Record is a job as sacct shows it. Its Size is what the job asked for.
type Record struct {
	workload.Job
	Allocated workload.Size // zero if nothing was allocated, or without a column AllocTRES
}

// Records yields the jobs of sacct's parsable output (-P, or -p) in r. Times are
// Unix seconds (SLURM_TIME_FORMAT=%s) or, as sacct writes by default, local times in zone.
// An error names the file, line and column, and ends the sequence.
func Records(name string, r io.Reader, zone *time.Location) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 64<<10), maxLine)
		fail := func(line int, err error) {
			yield(Record{}, fmt.Errorf("sacct: %s:%d: %w", name, line, err))
		}
		if !lines.Scan() {
			if err := lines.Err(); err != nil {
				fail(1, err)
			} else {
				fail(1, errors.New("no header line"))
			}
			return
		}
		p, err := newParser(lines.Text(), zone)
		if err != nil {
			fail(1, err)
			return
		}
		n := 1
		for lines.Scan() {
			n++
			if lines.Text() == "" {
				continue
			}
			record, err := p.parse(lines.Text())
			if err != nil {
				fail(n, err)
				return
			}
			if !yield(record, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			fail(n+1, err)
		}
	}
}

// setters store one column's text in the row.
var setters = map[string]func(p *parser, row *row, text string) error{
	"JobIDRaw":     func(_ *parser, row *row, s string) error { return setID(row, s) },
	"JobID":        func(_ *parser, row *row, s string) error { return setID(row, s) },
	"User":         func(p *parser, row *row, s string) error { row.job.User = p.intern(s); return nil },
	"Account":      func(p *parser, row *row, s string) error { row.job.Account = p.intern(s); return nil },
	"Partition":    func(p *parser, row *row, s string) error { row.job.Partition = p.intern(s); return nil },
	"QOS":          func(p *parser, row *row, s string) error { row.job.QOS = p.intern(s); return nil },
	"State":        func(_ *parser, row *row, s string) error { setState(row, s); return nil },
	"Submit":       func(p *parser, row *row, s string) error { return p.setTime(&row.job.Submit, s) },
	"Eligible":     func(p *parser, row *row, s string) error { return p.setTime(&row.job.Eligible, s) },
	"Start":        func(p *parser, row *row, s string) error { return p.setTime(&row.job.Start, s) },
	"End":          func(p *parser, row *row, s string) error { return p.setTime(&row.job.End, s) },
	"Timelimit":    func(_ *parser, row *row, s string) error { return setLimit(row, s) },
	"TimelimitRaw": func(_ *parser, row *row, s string) error { return setLimitMinutes(row, s) },
	"ReqTRES":      func(_ *parser, row *row, s string) (err error) { row.requested, err = slurm.ParseTRES(s); return },
	"AllocTRES":    func(_ *parser, row *row, s string) (err error) { row.allocated, err = slurm.ParseTRES(s); return },
	"Constraints":  func(p *parser, row *row, s string) error { row.constraint = p.intern(s); return nil },
	"Reason":       func(_ *parser, row *row, s string) error { row.job.AtLimit = slurm.AtLimit(s); return nil },
}

// parser reads one output, whose header it has read.
type parser struct {
	columns         []string
	delimiter       string
	knowsAllocation bool // there is an AllocTRES column
	knowsNeeds      bool // there is a Constraints column
	zone            *time.Location
	strings         map[string]string
}

type row struct {
	job                  workload.Job
	requested, allocated limits.TRES
	constraint           string
}

func newParser(header string, zone *time.Location) (*parser, error) {
	delimiter := "|"
	if strings.Contains(header, separator) {
		delimiter = separator
	}
	columns := strings.Split(strings.TrimSuffix(header, delimiter), delimiter)
	if !slices.Contains(columns, "JobIDRaw") && !slices.Contains(columns, "JobID") {
		return nil, fmt.Errorf("no JobIDRaw column: want a header line such as %s", strings.Join(Fields, "|"))
	}
	for _, needed := range []string{"State", "Submit", "Start", "End"} {
		if !slices.Contains(columns, needed) {
			return nil, fmt.Errorf("no %s column", needed)
		}
	}
	return &parser{
		columns:         columns,
		delimiter:       delimiter,
		knowsAllocation: slices.Contains(columns, "AllocTRES"),
		knowsNeeds:      slices.Contains(columns, "Constraints"),
		zone:            zone,
		strings:         make(map[string]string),
	}, nil
}

func (p *parser) parse(line string) (Record, error) {
	var r row
	rest, more := line, true
	for _, column := range p.columns {
		if !more {
			return Record{}, fmt.Errorf("%d columns, want %d", strings.Count(line, p.delimiter)+1, len(p.columns))
		}
		var text string
		text, rest, more = strings.Cut(rest, p.delimiter)
		if set, ok := setters[column]; ok {
			if err := set(p, &r, text); err != nil {
				return Record{}, fmt.Errorf("%s: %w", column, err)
			}
		}
	}
	if more && rest != "" {
		return Record{}, fmt.Errorf("%d columns, want %d", strings.Count(line, p.delimiter)+1, len(p.columns))
	}
	r.job.Size = slurm.RequestedSize(r.requested, r.allocated)
	r.job.Given = slurm.SizeOf(r.allocated).CPUs
	if p.knowsNeeds {
		r.job.Needs = &workload.Needs{Constraint: r.constraint, Gres: slurm.GresOf(r.requested), Licenses: slurm.LicensesOf(r.requested)}
	}
	if p.knowsAllocation {
		slurm.DropInventedTimes(&r.job, r.allocated)
	}
	return Record{r.job, slurm.SizeOf(r.allocated)}, nil
}

// maxInterned bounds the table of names that rows share.
const maxInterned = 100_000

// intern returns s without keeping its line alive.
func (p *parser) intern(s string) string {
	if known, ok := p.strings[s]; ok {
		return known
	}
	if len(p.strings) >= maxInterned {
		clear(p.strings)
	}
	s = strings.Clone(s)
	p.strings[s] = s
	return s
}

// setState reads a state, such as "CANCELLED by 1000".
func setState(row *row, s string) {
	word, _, _ := strings.Cut(s, " ")
	row.job.State, row.job.Evicted, row.job.Expired = slurm.ParseState(s), slurm.Evicted(word), slurm.Expired(word)
}

func setID(row *row, s string) (err error) {
	if row.job.ID, err = strconv.ParseInt(s, 10, 64); err != nil {
		return fmt.Errorf("bad job id %q", s)
	}
	return nil
}

// setTime reads Unix seconds or a local time. It sets 0 if sacct shows no time.
func (p *parser) setTime(to *int64, s string) error {
	switch s {
	case "", "None", "Unknown", "N/A":
		*to = 0
		return nil
	}
	if seconds, err := strconv.ParseInt(s, 10, 64); err == nil && seconds >= 0 {
		*to = seconds
		return nil
	}
	local, err := time.ParseInLocation("2006-01-02T15:04:05", s, p.zone)
	if err != nil || local.Unix() < 0 {
		return fmt.Errorf("bad time %q", s)
	}
	*to = local.Unix()
	return nil
}

func setLimitMinutes(row *row, s string) error {
	if known := setSpecialLimit(row, s); known {
		return nil
	}
	minutes, err := strconv.ParseInt(s, 10, 32)
	if err != nil || minutes < 0 {
		return fmt.Errorf("bad time limit %q", s)
	}
	row.job.Limit = 60 * minutes
	return nil
}

// setLimit reads [D-]HH:MM:SS.
func setLimit(row *row, s string) (err error) {
	if known := setSpecialLimit(row, s); known {
		return nil
	}
	row.job.Limit, err = slurmtime.ParseDuration(s)
	return err
}

// setSpecialLimit sets a limit that is a word. It reports whether s is such a word.
func setSpecialLimit(row *row, s string) (known bool) {
	switch strings.ToUpper(s) {
	case "UNLIMITED", "INFINITE":
		row.job.Limit = slurm.UnlimitedTime
		return true
	case "PARTITION_LIMIT", "INVALID", "":
		return true
	}
	return false
}
