package plot

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// drawn returns a picture in a format.
func drawn(t *testing.T, picture Picture, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := picture.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// golden returns a picture as SVG, which is to be the one in testdata.
func golden(t *testing.T, name string, picture Picture) string {
	t.Helper()
	got := drawn(t, picture, "svg")
	file := filepath.Join("testdata", name+".svg")
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the picture is not %s; if it should be, run the test with -update and look at it", file)
	}
	return string(got)
}
