package simulate

import (
	"bytes"
	_ "embed" // the page
	"html/template"
	"os"
	"path/filepath"
	"strings"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/plot"
)

// The files that --plot writes.
const (
	loadPicture  = "load.svg"
	waitsPicture = "waits.svg"
	comparePage  = "compare.html"
)

// draw draws the trials into the folder dir, and makes it if it does not exist.
func draw(dir string, s setting, trials []*trial) error {
	load := &plot.Load{Title: s.String()}
	waits := &plot.Waits{Title: "How long jobs wait that do not reserve"}
	for _, t := range trials {
		load.Courses = append(load.Courses, plot.Course{Name: t.Reservations, Series: t.Series})
		waits.Distributions = append(waits.Distributions, plot.Distribution{Name: t.Reservations, Percentiles: t.Others.Percentiles})
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := plot.Save(filepath.Join(dir, loadPicture), load); err != nil {
		return err
	}
	return plot.Save(filepath.Join(dir, waitsPicture), waits)
}

//go:embed compare.html
var pageText string

// save writes the page and its pictures into a folder.
func (c *comparison) save(dir string) error {
	trials := make([]*trial, len(c.Trials))
	for i, row := range c.Trials {
		trials[i] = row.trial
	}
	if err := draw(dir, c.setting, trials); err != nil {
		return err
	}
	page, err := c.page(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, comparePage), page, 0o666)
}

// page returns a page that contains its pictures. It reads the pictures from dir.
func (c *comparison) page(dir string) ([]byte, error) {
	t, err := template.New(comparePage).Parse(pageText)
	if err != nil {
		return nil, err
	}
	picture := func(name string) (template.HTML, error) {
		svg, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		_, svg, _ = bytes.Cut(svg, []byte("?>")) // of the XML declaration
		return template.HTML(svg), nil           // drawn by us
	}
	load, err := picture(loadPicture)
	if err != nil {
		return nil, err
	}
	waits, err := picture(waitsPicture)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = t.Execute(&page, map[string]any{
		"Setting": c.setting, "Jobs": cli.Thousands(c.Trials[0].Jobs), "Others": cli.Thousands(c.Trials[0].Others.Jobs),
		"Verdict": c.verdict(), "OthersTable": cells(othersColumns(), c.Trials), "ReserversTable": cells(reserversColumns(), c.Trials[1:]),
		"Load": load, "Waits": waits, "Speed": c.speed(),
	})
	return page.Bytes(), err
}

// cells returns the rows of a table. The first row is the header.
func cells[R any](columns []table.Column[R], records []R) [][]string {
	rows := [][]string{strings.Split(table.Names(columns), ",")}
	for _, r := range records {
		var row []string
		for _, c := range columns {
			row = append(row, c.Value(r))
		}
		rows = append(rows, row)
	}
	return rows
}
