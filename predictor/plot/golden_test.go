package plot

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/test/golden"
)

// drawn returns a picture in a format.
func drawn(t *testing.T, picture Picture, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := picture.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// expect compares a picture as SVG with the file in testdata, and returns it.
func expect(t *testing.T, name string, picture Picture) string {
	t.Helper()
	got := drawn(t, picture, "svg")
	file := filepath.Join("testdata", name+".svg")
	want := golden.Want(t, file, got)
	if !bytes.Equal(got, want) {
		t.Errorf("the picture is not %s; if it should be, run the test with -update and look at it", file)
	}
	return string(got)
}
