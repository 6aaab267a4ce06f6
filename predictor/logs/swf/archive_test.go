package swf_test

import (
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/predictor/logs/swf"
	"github.com/varq-project/varq/test/archive"
)

// The archive's logs have the numbers of jobs that their README says. If there are logs at
// all, none may be missing.
func TestArchive(t *testing.T) {
	dir := archive.Folder(t)
	for name, want := range map[string]int{
		"SDSC-DS-2004-2.1-cln": 96069, "KTH-SP2-1996-2.1-cln": 28476, "SDSC-Par-1996-3.1-cln": 32135, "NASA-iPSC-1993-3.1-cln": 18239,
	} {
		t.Run(name, func(t *testing.T) {
			r, err := swf.Open(filepath.Join(dir, name+".swf.gz"))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			n := 0
			for job, err := range r.Jobs() {
				if err != nil {
					t.Fatal(err)
				}
				if job.Submit < r.Header().UnixStartTime || job.End != 0 && job.End < job.Start {
					t.Fatalf("%+v", job)
				}
				n++
			}
			if n != want {
				t.Errorf("%d jobs, want %d", n, want)
			}
			t.Logf("%d jobs, %v", n, r.Warnings())
		})
	}
}
