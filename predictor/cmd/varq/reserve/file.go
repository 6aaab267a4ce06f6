package reserve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/varq-project/varq/predictor/varqd/broker"
)

// mostRequest is the largest file of --file, in bytes.
const mostRequest = 64 << 10

// read reads the file, whose options the command line overrides, and the command.
func (f *flags) read(ctx context.Context, flags *pflag.FlagSet, args []string) error {
	if flags.Changed("ref-power") && f.Power == 0 {
		return errors.New("--ref-power: 0 is not the power of a processor")
	}
	if f.file != "" {
		if err := f.readFile(ctx, flags); err != nil {
			return err
		}
	}
	if len(args) > 0 {
		f.Command = args
	}
	switch {
	case len(f.Command) == 0:
		return errors.New("nothing to submit: give sbatch and its options after --")
	case f.Command[0] != "sbatch" && !strings.HasSuffix(f.Command[0], "/sbatch"):
		return fmt.Errorf("%.40q is not sbatch: give sbatch and its options after --", f.Command[0])
	case len(f.Command) == 1:
		return errors.New("nothing to submit: give sbatch a script or --wrap")
	}
	return nil
}

// readFile reads the options of a file that are not given on the command line.
func (f *flags) readFile(ctx context.Context, flags *pflag.FlagSet) error {
	text, err := readBounded(ctx, f.file)
	if err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	line := map[string]string{}
	flags.Visit(func(flag *pflag.Flag) { line[flag.Name] = flag.Value.String() })
	if err := f.decode(text); err != nil {
		return err
	}
	for name, value := range line {
		if err := flags.Set(name, value); err != nil {
			return err
		}
		delete(f.lines, name)
	}
	return nil
}

// readBounded reads a file, or a pipe, in which there may never be anything.
func readBounded(ctx context.Context, name string) (text []byte, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		var file *os.File
		if file, err = os.Open(name); err != nil {
			return
		}
		defer file.Close()
		text, err = io.ReadAll(io.LimitReader(file, mostRequest+1))
	}()
	select {
	case <-ctx.Done():
		return nil, broker.ErrInterrupted
	case <-done:
	}
	if err == nil && len(text) > mostRequest {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, mostRequest)
	}
	return text, err
}

// decode sets the options that the text of the file has, and notes their lines.
func (f *flags) decode(text []byte) error {
	var document yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil // it says nothing
	} else if err != nil {
		return f.syntax(err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("--file: %s: there is more than one YAML document", f.file)
	}
	top := document.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil
	}
	if top.Kind != yaml.MappingNode {
		return f.at(top.Line, errors.New("these are not lines with KEY: VALUE"))
	}
	fields, names := f.fields()
	f.lines = map[string]int{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		field, known := fields[key.Value]
		option := strings.ReplaceAll(key.Value, "_", "-")
		switch {
		case !known:
			return f.at(key.Line, fmt.Errorf("unknown key %.40q; there are %s", key.Value, strings.Join(names, ", ")))
		case f.lines[option] != 0:
			return f.at(key.Line, fmt.Errorf("%s is there already, in line %d", key.Value, f.lines[option]))
		case field.Kind() == reflect.Slice && unlisted(value) != "":
			return f.at(value.Line, fmt.Errorf("%s: %s", key.Value, unlisted(value)))
		case isInteger(field) && value.ShortTag() == "!!float", value.Decode(field.Addr().Interface()) != nil:
			return f.at(value.Line, fmt.Errorf("%s: %s", key.Value, wanted(field, value)))
		}
		f.lines[option] = value.Line
	}
	return nil
}

// fields returns the options by their keys, and the keys in order.
func (f *flags) fields() (fields map[string]reflect.Value, names []string) {
	fields = map[string]reflect.Value{}
	all := reflect.ValueOf(f).Elem()
	for i := range all.NumField() {
		if key := all.Type().Field(i).Tag.Get("yaml"); key != "" {
			fields[key], names = all.Field(i), append(names, key)
		}
	}
	return fields, names
}

// isInteger reports whether a field has a whole number.
func isInteger(field reflect.Value) bool {
	return field.Kind() == reflect.Int || field.Kind() == reflect.Int32
}

// unlisted says what is wrong with an element of a list of words, "" if nothing is, or if it is no
// list.
func unlisted(list *yaml.Node) string {
	if list.Kind != yaml.SequenceNode {
		return ""
	}
	for i, word := range list.Content {
		if word.Kind == yaml.AliasNode {
			word = word.Alias
		}
		switch {
		case word.Kind == yaml.SequenceNode:
			return fmt.Sprintf("word %d is a list itself; give all words one after another, such as [sbatch, -N4, job.sh]", i+1)
		case word.Kind != yaml.ScalarNode:
			return fmt.Sprintf("word %d is not a word, but has keys and values; put it into quotes if it is to be one", i+1)
		case word.ShortTag() == "!!null":
			return fmt.Sprintf("word %d is nothing (%s); leave it out, or put it into quotes", i+1, cmp.Or(word.Value, "it is empty"))
		}
	}
	return ""
}

// wanted says what a key should have for what it has.
func wanted(field reflect.Value, value *yaml.Node) string {
	has := "what it has"
	if value.Kind == yaml.ScalarNode {
		has = fmt.Sprintf("%.40q", value.Value)
	}
	switch field.Kind() {
	case reflect.Bool:
		return has + " is neither true nor false"
	case reflect.Int, reflect.Int32:
		return has + " is not a whole number"
	case reflect.Float64:
		return has + " is not a number"
	case reflect.Slice:
		return has + " is not a list, such as [sbatch, -N4, job.sh]"
	}
	return has + " is not text; put what the option would have into quotes"
}

// at returns an error about a line of the file.
func (f *flags) at(line int, err error) error {
	return fmt.Errorf("--file: %s:%d: %w", f.file, line, err)
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// syntax returns the error of a file that is not YAML.
func (f *flags) syntax(err error) error {
	text := err.Error()
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("--file: %s:%s: %s", f.file, m[1], strings.TrimPrefix(text, m[0]))
	}
	return fmt.Errorf("--file: %s: %s", f.file, strings.TrimPrefix(text, "yaml: "))
}

var firstOption = regexp.MustCompile(`^--([a-z-]+)`)

// blame names the line of the file from which the option comes that an error begins with.
func (f *flags) blame(err error) error {
	if err == nil {
		return nil
	}
	if m := firstOption.FindStringSubmatch(err.Error()); m != nil && f.lines[m[1]] != 0 {
		return f.at(f.lines[m[1]], err)
	}
	return err
}
