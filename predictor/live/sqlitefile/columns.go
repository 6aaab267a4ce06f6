package sqlitefile

import "strings"

// Column pairs a column's name with the variable from which its value is written and into
// which it is read. So a value is never written to another value's column.
type Column struct {
	Name    string
	Pointer any
}

// Columns are columns of one row.
type Columns []Column

// Names returns the names, for SELECT.
func (c Columns) Names() string { return c.list(func(name string) string { return name }) }

// Assignments returns an assignment for each column, for UPDATE, in the order of
// Pointers.
func (c Columns) Assignments() string {
	return c.list(func(name string) string { return name + " = ?" })
}

// Insert returns the statement that inserts a row of these columns, in the order of
// Pointers.
func (c Columns) Insert(table string) string {
	return "INSERT INTO " + table + " (" + c.Names() + ") VALUES (" + c.list(func(string) string { return "?" }) + ")"
}

func (c Columns) list(write func(name string) string) string {
	words := make([]string, len(c))
	for i := range c {
		words[i] = write(c[i].Name)
	}
	return strings.Join(words, ", ")
}

// Pointers returns the pointers, as the destinations of Scan or the arguments of the
// statements of Insert and Assignments.
func (c Columns) Pointers() []any {
	list := make([]any, len(c))
	for i := range c {
		list[i] = c[i].Pointer
	}
	return list
}
