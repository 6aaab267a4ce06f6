package sqlitefile

import "strings"

// Where is a conjunction of conditions with their arguments. The zero value has none.
type Where struct {
	conditions []string
	Args       []any // the arguments of the conditions, in the order of Clause
}

// And adds a condition and its arguments if given is true.
func (w *Where) And(given bool, condition string, args ...any) {
	if given {
		w.conditions = append(w.conditions, condition)
		w.Args = append(w.Args, args...)
	}
}

// In adds the condition that the column has one of the values. No values are not a condition.
func (w *Where) In(column string, values []string) {
	args := make([]any, len(values))
	for i, value := range values {
		args[i] = value
	}
	w.And(len(values) > 0, column+" IN (?"+strings.Repeat(", ?", max(0, len(values)-1))+")", args...)
}

// Clause returns the WHERE clause. It is empty if there are no conditions.
func (w *Where) Clause() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}
