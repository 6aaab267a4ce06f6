// Package golden reads the expected results of tests from files. Tests that run with -update
// write these files.
package golden

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Update reports whether golden files are to be written anew.
func Update() bool { return *update }

// Want returns the expected result, the contents of a file. With -update, it first writes
// got to the file.
func Want(t testing.TB, file string, got []byte) []byte {
	t.Helper()
	if Update() {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return want
}
