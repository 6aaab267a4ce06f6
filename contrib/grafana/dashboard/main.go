// Command dashboard writes varq's dashboard for Grafana, contrib/grafana/varq.json.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

//go:generate go run . -o ../varq.json

func main() {
	out := flag.String("o", "varq.json", "file to write")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "dashboard:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	text, err := render()
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o644)
}

// render returns the dashboard in JSON.
func render() ([]byte, error) {
	d, err := build(rows)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(d, "", "  ")
	text = bytes.ReplaceAll(text, []byte(`\u003e`), []byte(">")) // in expressions that compare
	return append(text, '\n'), err
}
