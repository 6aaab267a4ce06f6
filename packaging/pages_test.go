package packaging

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostREADME is how large README may be, in bytes: it is read in five minutes.
const mostREADME = 7 * 1024

// TestREADME: README stays short.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > mostREADME {
		t.Errorf("README.md has %d bytes, and may have %d: move details to packaging/doc", len(text), mostREADME)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped = regexp.MustCompile(`[^a-z0-9 -]`)
)

// anchors returns the anchors of the headings of a page, as GitHub makes them.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(page, -1) {
		found[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	return found
}

// TestLinks: each relative link of a page leads to a file, and to a heading if it names one.
// Reports in testdata link to pictures that are written beside them, and what is below build is
// made, or others'.
func TestLinks(t *testing.T) {
	pages := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "build"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		pages[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for page, text := range pages {
		for _, l := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(l[1], "://") || strings.HasPrefix(l[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(l[1], "#")
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %s leads nowhere: %v", page, l[0], err)
			} else if anchor != "" && !anchors(pages[to])[anchor] {
				t.Errorf("%s: %s names no heading of %s", page, l[0], to)
			}
		}
	}
	if len(pages) < 5 {
		t.Errorf("%d pages", len(pages))
	}
}
