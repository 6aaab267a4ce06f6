package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// TestGuide: what the site guide lets somebody run works on a site, and what it lets somebody write
// into varq.yaml is right. A block of the guide says how: "sh USER" is run as a user, "yaml" is of
// varq.yaml, and "console" needs a host of its own.
func TestGuide(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	source, err := os.ReadFile("../../packaging/doc/guide/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	s := site.ForTest(t, site.Options{History: site.Calm(time.Now().Unix())})
	tools := filepath.Dir(s.Prepare(t.Context(), "root", "varq").Path) + ":" + filepath.Dir(s.Prepare(t.Context(), "root", "varqd").Path)
	ran := map[string]int{}
	for _, block := range fenced(source) {
		kind, user, _ := strings.Cut(block.info, " ")
		ran[kind]++
		switch kind {
		case "sh":
			r, err := s.Run(t.Context(), user, "bash", "-ec", "export PATH="+tools+":$PATH VARQ_SOCKET="+s.Socket()+"\n"+block.text)
			if err != nil || r.Code != 0 {
				t.Errorf("%s\nas %s: exit code %d, %v\n%s%s", block.text, user, r.Code, err, r.Stdout, r.Stderr)
			}
		case "yaml":
			if _, err := config.Parse("varq.yaml", []byte(block.text)); err != nil {
				t.Errorf("%s\n%v", block.text, err)
			}
		case "console":
		default:
			t.Errorf("a block of kind %q: %s", block.info, block.text)
		}
	}
	if ran["sh"] < 5 || ran["yaml"] < 2 {
		t.Errorf("few blocks were found: %v", ran)
	}
}

// codeBlock is a fenced block of code in Markdown.
type codeBlock struct{ info, text string }

func fenced(source []byte) (blocks []codeBlock) {
	document := goldmark.DefaultParser().Parse(text.NewReader(source))
	// the function returns no error
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		block, ok := n.(*ast.FencedCodeBlock)
		if ok && entering && block.Info != nil {
			blocks = append(blocks, codeBlock{string(block.Info.Segment.Value(source)), string(block.Lines().Value(source))})
		}
		return ast.WalkContinue, nil
	})
	return blocks
}
