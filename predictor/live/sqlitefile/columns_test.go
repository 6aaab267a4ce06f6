package sqlitefile

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestColumns(t *testing.T) {
	type state string
	type row struct {
		n    int32
		x    float64
		s    state
		flag bool
		b    []byte
	}
	columns := func(r *row) Columns {
		return Columns{{"n", &r.n}, {"x", &r.x}, {"s", &r.s}, {"flag", &r.flag}, {"b", &r.b}}
	}
	f := open(t, filepath.Join(t.TempDir(), "file.db"), "CREATE TABLE t (b BLOB, flag INTEGER, s TEXT, x REAL, n INTEGER) STRICT")
	want := row{7, .5, "held", true, []byte{1, 2}}
	write := func(statement string, c Columns) {
		t.Helper()
		if err := f.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(statement, c.Pointers()...); return err }); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (got row) {
		t.Helper()
		c := columns(&got)
		if err := f.QueryRow("SELECT " + c.Names() + " FROM t").Scan(c.Pointers()...); err != nil {
			t.Fatal(err)
		}
		return got
	}
	c := columns(&want)
	write(c.Insert("t"), c)
	if diff := cmp.Diff(want, read(), cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
	want.n, want.s = 8, "released"
	write("UPDATE t SET "+c[:3].Assignments(), c[:3])
	if diff := cmp.Diff(want, read(), cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
}

func TestWhere(t *testing.T) {
	var w Where
	if w.Clause() != "" {
		t.Errorf("no conditions: %q", w.Clause())
	}
	w.And(true, "a = ?", 1)
	w.And(false, "b = ?", 2)
	w.And(true, "c")
	w.And(true, "d BETWEEN ? AND ?", 3, 4)
	w.In("e", nil)
	w.In("f", []string{"x"})
	w.In("g", []string{"y", "z"})
	if diff := cmp.Diff([]any{1, 3, 4, "x", "y", "z"}, w.Args); diff != "" || w.Clause() != " WHERE a = ? AND c AND d BETWEEN ? AND ? AND f IN (?) AND g IN (?, ?)" {
		t.Errorf("%q %s", w.Clause(), diff)
	}
}
