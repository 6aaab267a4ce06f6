package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/test/archive"
)

var _ study.Traces = Folder("")

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for name, log := range map[string]string{
		"ODD-1-2.0-cln.swf":    "; MaxProcs: 2\n" + line,
		"ODD-1-2.1-cln.swf":    "; MaxProcs: 3\n" + line + line,
		"ODD-1-2.2-cln.txt":    "",
		"ODD-11-3.0.swf":       "; MaxProcs: 4\n" + line,
		"BAD-1-1.swf":          line,
		"EVEN-1.swf.gz.broken": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(log), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	jobs, procs, err := Folder(dir).Open("ODD-1")
	if err != nil || procs != 3 {
		t.Fatal(procs, err)
	}
	for range 2 {
		n := 0
		for _, err := range jobs {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != 2 {
			t.Errorf("%d jobs", n)
		}
	}

	for _, c := range []struct {
		folder, name string
		want         []string
	}{
		{dir, "EVEN-1", []string{"no log EVEN-1-*.swf", dir, "https://www.cs.huji.ac.il/labs/parallel/workload/"}},
		{filepath.Join(dir, "none"), "ODD-1", []string{filepath.Join(dir, "none"), "ODD-1", "https://"}},
		{dir, "BAD-1", []string{"BAD-1-1.swf", "MaxProcs"}},
	} {
		_, _, err := Folder(c.folder).Open(c.name)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s in %s: %v, want %q in it", c.name, c.folder, err, want)
			}
		}
	}
}

func TestFailures(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "failures"), 0o777); err != nil {
		t.Fatal(err)
	}
	const header = "System,nodes,nodenumz,Prob Started\n"
	_, _, err := Folder(dir).Failures("20")
	if err == nil || !strings.Contains(err.Error(), "no failures LANL-*.csv or .csv.gz in the folder "+dir) {
		t.Error(err)
	}
	for name, log := range map[string]string{"LANL-1.csv": header, "LANL-2.csv": header + "20,3,1,1/2/2003 4:05\n2,1,0,1/2/2003 4:05\n"} {
		if err := os.WriteFile(filepath.Join(dir, "failures", name), []byte(log), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	nodes, log, err := Folder(dir).Failures("20")
	if err != nil || len(nodes) != 3 || len(log) != 1 || log[0].Node != "1" || log[0].Down != 1041480300 {
		t.Error(nodes, log, err)
	}
	if _, _, err := Folder(dir).Failures("5"); err == nil || !strings.Contains(err.Error(), "LANL-2.csv has no system 5") {
		t.Error(err)
	}
}

// TestArchive reads whole logs of the archive.
func TestArchive(t *testing.T) {
	dir := archive.Folder(t)
	for _, c := range []struct {
		name       string
		procs      int32
		lines      int // according to its README
		shortLimit bool
	}{
		{"SDSC-SP2-1998", 128, 59715, true},
		{"SDSC-BLUE-2000", 1152, 243306, true},
		{"SDSC-DS-2004", 1664, 96069, true},
		{"SDSC-Par-1996", 400, 32135, false},
		{"CTC-SP2-1996", 338, 77222, true},
		{"KTH-SP2-1996", 100, 28476, true},
		{"NASA-iPSC-1993", 128, 18239, false},
		{"CEA-Curie-2011", 93312, 312826, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, err := Folder(dir).find(c.name)
			if err != nil {
				t.Skip(err)
			}
			trace, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer trace.Close()
			jobs, leftOut := 0, 0
			for job, err := range trace.Jobs() {
				if err != nil {
					t.Fatal(err)
				}
				if job.Run > job.Limit && !c.shortLimit {
					t.Fatalf("%+v", job)
				}
				jobs++
			}
			if trace.Progress() != 1 {
				t.Errorf("%v of the file read", trace.Progress())
			}
			t.Logf("%d jobs on %d processors", jobs, trace.Procs())
			for _, w := range trace.Warnings() {
				t.Log(w)
				if strings.HasSuffix(w.Text, "left out") {
					leftOut += w.Count
				}
			}
			if trace.Procs() != c.procs || jobs == 0 || jobs+leftOut != c.lines {
				t.Errorf("%d processors, %d jobs and %d lines left out, want %d and %d together", trace.Procs(), jobs, leftOut, c.procs, c.lines)
			}
		})
	}
}
