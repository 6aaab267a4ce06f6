// Command guide renders the site guide, guide.md, into guide.html in the current folder. The page
// is a single file that loads nothing else.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"text/template"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

//go:generate go run .

//go:embed page.tmpl.html
var page string

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "guide:", err)
		os.Exit(1)
	}
}

func run() error {
	source, err := os.ReadFile("guide.md")
	if err != nil {
		return err
	}
	rendered, err := render(source)
	if err != nil {
		return err
	}
	return os.WriteFile("guide.html", rendered, 0o644)
}

// render returns the page of a guide in Markdown.
func render(source []byte) ([]byte, error) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	var body, out bytes.Buffer
	if err := markdown.Convert(source, &body); err != nil {
		return nil, err
	}
	layout, err := template.New("page").Parse(page)
	if err != nil {
		return nil, err
	}
	err = layout.Execute(&out, body.String())
	return out.Bytes(), err
}
