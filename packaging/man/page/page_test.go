package page

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/varq-project/varq/test/golden"
)

// ferry returns a program with a command that has options of every kind, one with commands below
// it, and one that is hidden.
func ferry() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{
		Use:     "ferry",
		Short:   "Cross a river",
		Long:    "ferry crosses a river.",
		Example: "  ferry row --oars=2 there",
	}
	root.PersistentFlags().String("river", "", "cross this `river`")
	row := &cobra.Command{
		Use:   "row [--oars=N] PLACE...",
		Short: "Row to a place",
		Long: `Row rows to a place. It needs
--oars, and a \ is shown as one.

  Rowing is
    a sport.

Columns: Place,Oars,Minutes, of 10,000 boats.
'Tis all.`,
		Example: "  ferry row there\n  ferry row --oars=1 \\\n    there",
		Run:     run,
	}
	row.Flags().SortFlags = false
	row.Flags().IntP("oars", "o", 2, "`N` oars; --sing helps")
	row.Flags().String("log", "", "write a log, into `FILE` if that is given")
	row.Flags().Lookup("log").NoOptDefVal = "log.txt"
	row.Flags().Bool("sing", false, "sing a song of\nseveral lines: la, la, ...")
	row.Flags().StringSlice("with", []string{"ann", "ben"}, "with `whom`")
	row.Flags().Bool("secretly", false, "at night")
	_ = row.Flags().MarkHidden("secretly")
	dock := &cobra.Command{Use: "dock", Short: "Look after the dock", Long: "Dock is of its commands.", Run: run}
	dock.AddCommand(&cobra.Command{Use: "open", Short: "Open the dock", Long: "Open opens it.", Run: run})
	dock.AddCommand(&cobra.Command{Use: "shut", Short: "Shut the dock", Run: run})
	root.AddCommand(row, dock, &cobra.Command{Use: "swim", Long: "Swim swims.", Hidden: true, Run: run})
	return root
}

// rowing is the source of a page.
const rowing = `.\" A comment.
.Sh DESCRIPTION
More of
.Nm .
.Sh OPTIONS
Oars are wooden.
.It Fl Fl oars
The more the better.
.Sh FILES
.Pa log.txt
.Sh EXAMPLES
.Pp
One more.
.Sh SEE ALSO
.Xr swim 7 ,
.Xr boat 1
`

var released = time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)

func of(t *testing.T, sources map[string]string) (map[string][]byte, error) {
	t.Helper()
	files := fstest.MapFS{}
	for name, text := range sources {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return Of(ferry(), files, released)
}

// TestPages: each command that explains something has a page.
func TestPages(t *testing.T) {
	pages, err := of(t, map[string]string{"ferry-row.1.in": rowing})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ferry-dock-open.1", "ferry-dock.1", "ferry-row.1", "ferry.1"}
	if got := slices.Sorted(maps.Keys(pages)); !slices.Equal(got, want) {
		t.Errorf("pages are %q, want %q", got, want)
	}
	for name, text := range pages {
		want := golden.Want(t, filepath.Join("testdata", name), text)
		if diff := cmp.Diff(string(want), string(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSourcesFit: a source is about its command.
func TestSourcesFit(t *testing.T) {
	for source, says := range map[string]string{
		".Sh OPTIONS\n.It Fl Fl sails\nWhite.\n":              "ferry row has no option --sails",
		".Sh OPTIONS\n.It Fl Fl river\nThe Rhine.\n":          "ferry row has no option --river",
		".Sh FILES\nNone.\n.Sh NOTES\nNone.\n.Sh FILES\nOne.": "no newline",
		".Sh FILES\nNone.\n.Sh FILES\nOne.\n":                 "two sections FILES",
		".Sh OPTIONS\n.It Fl Fl log\nA.\n.It Fl Fl log\nB.\n": "two items about --log",
	} {
		if _, err := of(t, map[string]string{"ferry-row.1.in": source}); err == nil ||
			!strings.HasPrefix(err.Error(), "ferry-row.1.in: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", source, err, says)
		}
	}
}

func TestReleased(t *testing.T) {
	got, err := Released("# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-28\n\n## [0.1.0] - 2026-01-01\n")
	if err != nil || !got.Equal(released) {
		t.Errorf("released on %v, %v", got, err)
	}
	if day, err := Released("## [Unreleased]\n"); err == nil {
		t.Errorf("a changelog without a release has one on %v", day)
	}
}
