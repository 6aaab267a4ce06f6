package sqlitefile

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrForeign is the error of a file with tables, indices, views or triggers that are not those of
// its schema version: varq's, but changed by somebody else, or a file of another program.
var ErrForeign = errors.New("not as varq has made it")

// object is what a schema has: a table, an index, a view or a trigger.
type object struct{ kind, name, on, text string }

// String names the object.
func (o object) String() string {
	if o.on != o.name {
		return fmt.Sprintf("the %s %q on %q", o.kind, o.name, o.on)
	}
	return fmt.Sprintf("the %s %q", o.kind, o.name)
}

// objects reads the schema of a file, without what SQLite keeps there of its own.
func objects(ctx context.Context, from Reader) (all []object, err error) {
	const query = `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema
		WHERE NOT (type = 'table' AND name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4'))`
	err = Each(ctx, from, query, nil, func(rows *sql.Rows) error {
		var o object
		err := rows.Scan(&o.kind, &o.name, &o.on, &o.text)
		all = append(all, o)
		return err
	})
	return all, err
}

// foreign returns sentences that say how the schema of a file is another one than these steps make,
// none if it is that.
func foreign(ctx context.Context, from Reader, steps []string) (sentences []string, err error) {
	has, err := objects(ctx, from)
	if err != nil {
		return nil, err
	}
	var want []object
	if len(steps) > 0 {
		made, err := OpenMemory(steps)
		if err != nil {
			return nil, err
		}
		want, err = objects(ctx, made)
		if err := errors.Join(err, made.Close()); err != nil {
			return nil, err
		}
	}
	for _, o := range has {
		same := func(w object) bool { return w.kind == o.kind && w.name == o.name }
		switch i := slices.IndexFunc(want, same); {
		case i < 0:
			sentences = append(sentences, o.String()+" is none of varq's")
		case want[i] != o:
			sentences = append(sentences, o.String()+" is not as varq makes it")
		}
		want = slices.DeleteFunc(want, same)
	}
	for _, o := range want {
		sentences = append(sentences, o.String()+" is missing")
	}
	slices.SortFunc(sentences, cmp.Compare)
	return sentences[:min(len(sentences), mostDamage)], nil
}

// own returns an error that wraps ErrForeign if the schema of a file is another one than these
// steps make.
func own(ctx context.Context, from Reader, steps []string) error {
	sentences, err := foreign(ctx, from, steps)
	if err == nil && len(sentences) > 0 {
		err = fmt.Errorf("%w: %s", ErrForeign, strings.Join(sentences, "; "))
	}
	return err
}
