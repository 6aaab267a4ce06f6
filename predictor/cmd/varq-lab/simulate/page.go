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
)

// comparePage is the file that --plot writes.
const comparePage = "compare.html"

//go:embed compare.html
var pageText string

// save writes the page into the folder dir, and makes it if it does not exist.
func (c *comparison) save(dir string) error {
	page, err := c.page()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, comparePage), page, 0o666)
}

// page returns a page that needs no other file.
func (c *comparison) page() ([]byte, error) {
	t, err := template.New(comparePage).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = t.Execute(&page, map[string]any{
		"Summary": c.summary(), "Replayed": c.replayed(), "Charts": c.charts(), "Sentences": c.sentences(), "Certainty": c.certainty(),
		"Others": cli.Thousands(c.Trials[0].Others.Jobs), "OthersTable": cells(othersColumns(), c.Trials), "ReserversTable": cells(reserversColumns(), c.Trials[1:]),
		"RefusedTable": cells(refusedColumns(), c.refusing()), "Refusing": len(c.refusing()) > 0,
		"Cut": c.cut, "Seed": c.Seed, "Seeds": c.Seeds, "HardPrice": hardPrice,
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
