// Package sacctmgr reads the history of the nodes from accounting, by Slurm's sacctmgr command. The
// REST API lacks this history.
package sacctmgr

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/program"
)

// Command runs sacctmgr. The zero value runs the one on the PATH.
type Command struct {
	Path string   // of sacctmgr, "sacctmgr" if empty
	Env  []string // added to the environment, SLURM_CONF=... for instance
}

// Event is a time during which a node ran no jobs: down, drained, powered down or rebooting. While
// the node stays so, but for another reason or in another state, one Event ends when the next
// starts.
//
// Slurm writes none while a node is draining: the Event starts when the last job has left.
type Event struct {
	Node       string
	Start, End int64  // Unix seconds; End is 0 if it has not ended
	State      string // at the start, as slurm.Node has it
	Reason     string // as slurm.Node has it, at the start
	User       string // who set the reason
}

// maxReason is the longest reason that an Event keeps, in bytes.
const maxReason = 1024

// columns are what sacctmgr is asked for. Slurm writes a reason as it is, with its bars and lines,
// so that it has a column on either side whose form is known.
var columns = []string{"NodeName", "Start", "End", "StateRaw", "User", "Reason", "Event"}

// earliest is the least time that sacctmgr takes as Unix seconds.
const earliest = 1_000_000

// Events returns what has not ended at from, Unix seconds, of the nodes of this cluster, in the
// order of the starts, and of the nodes' names. Slurm may have purged what is old
// (PurgeEventAfter).
//
// The error wraps slurm.ErrTooMuch if that is more than is read at once, slurm.ErrPermission if
// only operators may see it (PrivateData=events), and else slurm.ErrUnavailable.
func (c *Command) Events(ctx context.Context, from int64) ([]Event, error) {
	// Without a start, sacctmgr begins yesterday.
	out, err := program.Output(ctx, cmp.Or(c.Path, "sacctmgr"), append(slices.Clip(c.Env), "SLURM_TIME_FORMAT=%s"),
		"-nP", "show", "event", "event=Node", fmt.Sprintf("start=uts%d", max(from, earliest)), "format="+strings.Join(columns, ","))
	if err != nil && strings.Contains(err.Error(), "Access/permission denied") {
		return nil, fmt.Errorf("%w: %w", slurm.ErrPermission, err)
	}
	if err != nil {
		return nil, err
	}
	events, err := parse(out)
	if err != nil {
		return nil, fmt.Errorf("%w: sacctmgr show event: %w", slurm.ErrUnavailable, err)
	}
	slices.SortFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.Node, b.Node), cmp.Compare(a.State, b.State))
	})
	return events, nil
}

// end is how a record ends: an event of a node.
const end = "|Node"

// parse reads records of columns. A record has several lines if its reason does.
func parse(out []byte) ([]Event, error) {
	var events []Event
	line, first := 0, 0 // the line being read, and the one at which the record begins
	var record []byte
	for text := range bytes.Lines(out) {
		if line++; len(record) == 0 {
			if len(bytes.TrimSpace(text)) == 0 {
				continue
			}
			first = line
		}
		record = append(record, text...)
		complete, ok := bytes.CutSuffix(bytes.TrimRight(record, "\r\n"), []byte(end))
		if !ok {
			continue
		}
		event, err := parseRecord(string(complete))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", first, err)
		}
		events = append(events, event)
		record = record[:0]
	}
	if len(record) > 0 {
		return nil, fmt.Errorf("line %d: %.100q has no end such as %q", first, record, end)
	}
	return events, nil
}

// parseRecord reads a record without its end.
func parseRecord(record string) (Event, error) {
	fields := strings.SplitN(record, "|", len(columns)-1)
	if len(fields) < len(columns)-1 {
		return Event{}, fmt.Errorf("%d columns, want %s", len(fields)+1, strings.Join(columns, "|"))
	}
	event := Event{Node: fields[0], Reason: strings.ToValidUTF8(fields[5][:min(len(fields[5]), maxReason)], "")}
	event.User, _, _ = strings.Cut(fields[4], "(") // root(0)
	if event.Node == "" {
		return Event{}, fmt.Errorf("%s: it is empty", columns[0])
	}
	var err error
	if event.Start, err = strconv.ParseInt(fields[1], 10, 64); err != nil || event.Start <= 0 {
		return Event{}, fmt.Errorf("%s: bad time %.40q", columns[1], fields[1])
	}
	if fields[2] != "Unknown" && fields[2] != "" {
		if event.End, err = strconv.ParseInt(fields[2], 10, 64); err != nil || event.End < 0 {
			return Event{}, fmt.Errorf("%s: bad time %.40q", columns[2], fields[2])
		}
	}
	state, err := strconv.ParseUint(fields[3], 10, 32)
	if err != nil {
		return Event{}, fmt.Errorf("%s: bad number %.40q", columns[3], fields[3])
	}
	event.State = slurm.NodeState(uint32(state))
	return event, nil
}
