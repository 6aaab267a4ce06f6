package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Contents tells what is in a file.
type Contents struct {
	Version int              // of its schema
	Rows    map[string]int64 // by table
	Damage  []string         // sentences, none if the file is whole
}

// mostDamage bounds how many sentences about damage there are.
const mostDamage = 20

// Examine reads a whole file that these steps have made, or the first of them, and which others may
// write meanwhile. That it is damaged is not an error, and neither is that it has what the steps do
// not make, which counts as damage. Of the schema of a later version it knows nothing.
func Examine(ctx context.Context, db *sql.DB, steps []string) (Contents, error) {
	c := Contents{Rows: map[string]int64{}}
	err := c.read(ctx, db, steps)
	if Damaged(err) {
		c.Damage, err = append(c.Damage, err.Error()), nil
	}
	return c, err
}

func (c *Contents) read(ctx context.Context, db *sql.DB, steps []string) (err error) {
	if c.Version, err = version(db); err != nil {
		return err
	}
	// before anything is read of tables that may be somebody else's views
	if c.Version <= len(steps) {
		if c.Damage, err = foreign(ctx, db, steps[:c.Version]); err != nil || len(c.Damage) > 0 {
			return err
		}
	}
	note := func(rows *sql.Rows) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		if text != "ok" {
			c.Damage = append(c.Damage, text)
		}
		return nil
	}
	if err := Each(ctx, db, fmt.Sprintf("PRAGMA integrity_check(%d)", mostDamage), nil, note); err != nil {
		return err
	}
	if err := Each(ctx, db, `SELECT DISTINCT "table" || ' has rows of which the table ' || parent || ' knows nothing' FROM pragma_foreign_key_check LIMIT ?`, []any{mostDamage}, note); err != nil {
		return err
	}
	var tables []string
	if err := Each(ctx, db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		tables = append(tables, name)
		return err
	}); err != nil {
		return err
	}
	for _, name := range tables {
		var n int64
		if err := db.QueryRowContext(ctx, `SELECT count(*) FROM "`+strings.ReplaceAll(name, `"`, `""`)+`"`).Scan(&n); err != nil {
			return err
		}
		c.Rows[name] = n
	}
	return nil
}

// Damaged reports whether err says that a file is damaged, or no file of SQLite's.
func Damaged(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_CORRUPT || e.Code()&0xff == sqlite3.SQLITE_NOTADB)
}
