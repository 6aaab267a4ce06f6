package api

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// Field is a field of a request as JSON has it, by its path: "begin_by", "job.nodes",
// "sizes[1].limit".
type Field string

// moment is a time in a rule, in Unix seconds, and span a duration, in seconds.
type (
	moment int64
	span   int64
)

// Mistake is a field of a request, and the rule that it breaks. It is an ErrInvalid.
type Mistake struct {
	Field Field
	// rule is a format. Its arguments are values, among them each Field, moment and span, which
	// commands write in another way than JSON.
	rule string
	args []any
	// contradicts is true if the rule is about the field itself, beside others ("does not go
	// together with ..."), and not about its value ("-1 is not a time").
	contradicts bool
}

// Rule returns the rule that is broken: a clause without a full stop.
func (m *Mistake) Rule() string { return fmt.Sprintf(m.rule, m.args...) }

// Error returns "field: rule".
func (m *Mistake) Error() string { return string(m.Field) + ": " + m.Rule() }

// Unwrap returns ErrInvalid.
func (m *Mistake) Unwrap() error { return ErrInvalid }

// Mistakes are all that is wrong with a request, up to mostMistakes.
type Mistakes []*Mistake

// mostMistakes bounds what is told of one request.
const mostMistakes = 8

// Error returns the mistakes in one line.
func (l Mistakes) Error() string {
	texts := make([]string, len(l))
	for i, m := range l {
		texts[i] = m.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the mistakes.
func (l Mistakes) Unwrap() []error {
	errs := make([]error, len(l))
	for i, m := range l {
		errs[i] = m
	}
	return errs
}

// ByOption returns the error of a Check in the words of a command: with its options instead of
// fields, and one line a mistake. time writes a time, in Unix seconds. Any other error it returns
// as it is.
func ByOption(err error, time func(unix int64) string) error {
	var mistakes Mistakes
	if !errors.As(err, &mistakes) {
		return err
	}
	var errs []error
	for _, m := range mistakes {
		errs = append(errs, errors.New(m.byOption(time)))
	}
	return errors.Join(errs...)
}

func (m *Mistake) byOption(time func(unix int64) string) string {
	args := make([]any, len(m.args))
	for i, arg := range m.args {
		switch arg := arg.(type) {
		case Field:
			args[i] = arg.option()
		case moment:
			args[i] = time(int64(arg))
		case span:
			args[i] = slurmtime.FormatDuration(int64(arg))
		default:
			args[i] = arg
		}
	}
	after := ": "
	if m.contradicts {
		after = " "
	}
	return m.Field.option() + after + fmt.Sprintf(m.rule, args...)
}

// options has the options of sbatch, and of varq's commands, for fields of another name.
var options = map[Field]string{
	"account": "--accounts", "array_tasks": "--jobs", "start": "--starttime", "end": "--endtime",
	"job.cpus": "--ntasks", "job.memory": "--mem", "job.limit": "--time",
	"needs.most_nodes": "--nodes", "needs.per_core": "--threads-per-core", "needs.node_list": "--nodelist", "needs.node_cpus": "--mincpus", "needs.node_memory": "--mem", "needs.node_tmp": "--tmp",
	"prefer": "--size-by", "by": "--size", "aversion": "--risk-aversion", "reconsider": "--lock-in=no", "tasks_per_node": "--ntasks-per-node",
	"power": "--ref-power", "quantiles": "--quantile",
}

// option returns the option for the field.
func (f Field) option() string {
	name, _, _ := strings.Cut(string(f), "[")
	of, part, _ := strings.Cut(name, ".")
	if of != "job" && of != "needs" {
		name, part = of, of
	}
	if option := options[Field(name)]; option != "" {
		return option
	}
	return "--" + strings.ReplaceAll(cmp.Or(part, of), "_", "-")
}

// checker collects mistakes.
type checker struct{ found Mistakes }

// wrong notes a rule about the value of a field, if that breaks it.
func (c *checker) wrong(breaks bool, field Field, rule string, args ...any) {
	c.add(breaks, Mistake{Field: field, rule: rule, args: args})
}

// odd notes a rule about a field beside others, if it breaks that.
func (c *checker) odd(breaks bool, field Field, rule string, args ...any) {
	c.add(breaks, Mistake{Field: field, rule: rule, args: args, contradicts: true})
}

func (c *checker) add(breaks bool, m Mistake) {
	if breaks && len(c.found) < mostMistakes {
		c.found = append(c.found, &m)
	}
}

// err returns the mistakes, or nil if there are none.
func (c *checker) err() error {
	if len(c.found) == 0 {
		return nil
	}
	return c.found
}
