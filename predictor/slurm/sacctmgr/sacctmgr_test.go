package sacctmgr

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/slurm"
)

// What 22.05 and 24.11 print: a drain, one whose reason has bars and lines, a slurmd that was
// killed, and a reboot that did not come back.
const output = `node1|1795414567|1795414568|514|root(0)|NHC: check_hw_physmem:  Actual RAM size (3900000 kB) less than minimum (4000000 kB).|Node
node3|1795414567|1795414597|514|root(0)|a|b "q"
for upgrade|Node
node2|1795414622|Unknown|2049|slurm(64030)|Not responding|Node
node4|1795414597|1795414619|1048577|slurm(64030)|reboot requested : reboot issued|Node
node4|1795414619|1795414622|1|slurm(64030)|reboot requested : reboot issued : reboot timed out|Node
node5|1795414619|1795414619|0|||Node
`

// fake returns a Command that runs a script in sacctmgr's place.
func fake(t *testing.T, script string) *Command {
	path := filepath.Join(t.TempDir(), "sacctmgr")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Command{Path: path, Env: []string{"OUTPUT=" + output}}
}

func TestEvents(t *testing.T) {
	const args = "-nP show event event=Node start=uts1700000000 format=NodeName,Start,End,StateRaw,User,Reason,Event"
	c := fake(t, `[ "$*" = "`+args+`" ] && [ "$SLURM_TIME_FORMAT" = %s ] && printf %s "$OUTPUT"`)
	got, err := c.Events(t.Context(), 1_700_000_000)
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{
		{"node1", 1795414567, 1795414568, "IDLE+DRAIN", "NHC: check_hw_physmem:  Actual RAM size (3900000 kB) less than minimum (4000000 kB).", "root"},
		{"node3", 1795414567, 1795414597, "IDLE+DRAIN", "a|b \"q\"\nfor upgrade", "root"},
		{"node4", 1795414597, 1795414619, "DOWN+REBOOT_ISSUED", "reboot requested : reboot issued", "slurm"},
		{"node4", 1795414619, 1795414622, "DOWN", "reboot requested : reboot issued : reboot timed out", "slurm"},
		{"node5", 1795414619, 1795414619, "UNKNOWN", "", ""},
		{"node2", 1795414622, 0, "DOWN+NOT_RESPONDING", "Not responding", "slurm"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := fake(t, "").Events(t.Context(), 1_700_000_000); err != nil || len(got) != 0 {
		t.Errorf("of no events: %v, %v", got, err)
	}
}

// TestEarliest: sacctmgr takes fewer than a million seconds for no time at all.
func TestEarliest(t *testing.T) {
	c := fake(t, `case "$*" in *start=uts1000000\ *) ;; *) echo " Invalid time specification" >&2; exit 1 ;; esac`)
	if _, err := c.Events(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

func TestEventsErrors(t *testing.T) {
	for script, want := range map[string]error{
		`echo " Error with request: Access/permission denied" >&2; exit 1`:                              slurm.ErrPermission,
		`echo "sacctmgr: error: slurm_persist_conn_open: failed to send persistent connection"; exit 1`: slurm.ErrUnavailable,
		`echo "node1|yesterday"`:      slurm.ErrUnavailable,
		`head -c 100000000 /dev/zero`: slurm.ErrTooMuch,
	} {
		if _, err := fake(t, script).Events(t.Context(), 0); !errors.Is(err, want) {
			t.Errorf("%s: %v", script, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	const good = "node1|1|2|1|root(0)|two\nlines|Node\n"
	for text, want := range map[string]string{
		good + "node1|1|2|1|root(0)|why": `line 3: "node1|1|2|1|root(0)|why" has no end such as "|Node"`,
		good + "node1|1|2|Node\n":        "line 3: 4 columns, want NodeName|Start|End|StateRaw|User|Reason|Event",
		"\n" + good + "|1|2|1|||Node\n":  "line 4: NodeName: it is empty",
		"a|None|2|1|||Node\n":            `line 1: Start: bad time "None"`,
		"a|0|2|1|||Node\n":               `line 1: Start: bad time "0"`,
		"a|1|2026-11-21|1|||Node\n":      `line 1: End: bad time "2026-11-21"`,
		"a|1|2|DOWN|||Node\n":            `line 1: StateRaw: bad number "DOWN"`,
	} {
		if _, err := parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(output)
	f.Add("a|1|Unknown|1|||Node\r\n\nb|1|2|4294967295|x|" + strings.Repeat("é", maxReason) + "|Node")
	f.Fuzz(func(t *testing.T, text string) {
		events, _ := parse([]byte(text))
		for _, e := range events {
			if e.Node == "" || e.Start <= 0 || e.End < 0 || len(e.Reason) > maxReason || e.State == "" {
				t.Errorf("%+v", e)
			}
		}
	})
}
