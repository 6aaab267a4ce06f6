package trace

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/slurm/sacct"
	"github.com/varq-project/varq/predictor/workload"
)

const benchLines = 100_000

func benchLog() []byte {
	var log bytes.Buffer
	fmt.Fprintln(&log, "; MaxProcs: 512")
	for i := range benchLines {
		fmt.Fprintf(&log, "%6d %9d %7d %6d %4d     -1    -1 %4d %6d    -1  1 %3d %3d %3d %2d %2d -1 -1\n",
			i, 100*i, i%5000, 7*i%9000, 1+i%512, 1+i%512, 9000+60*(i%1000), i%400, i%40, i%99, i%5, i%3)
	}
	return log.Bytes()
}

// BenchmarkSchedule writes a schedule of 100,000 jobs to a file.
func BenchmarkSchedule(b *testing.B) {
	path := filepath.Join(b.TempDir(), "schedule.swf")
	jobs := make([]sched.Job, benchLines)
	for i := range jobs {
		at := int64(100 * (i ^ 511)) // ended in another order
		jobs[i] = sched.Job{ID: int64(i), Submit: at, Start: at + 5000, End: at + 9000, Run: 4000, Limit: 6000, Procs: 64}
	}
	for b.Loop() {
		write(b, path, jobs)
	}
	b.ReportMetric(benchLines*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkJobs reads a log of 100,000 lines from memory.
func BenchmarkJobs(b *testing.B) {
	plain := benchLog()
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write(plain)
	w.Close()
	for _, c := range []struct {
		name string
		log  []byte
	}{{"plain", plain}, {"gzip", zipped.Bytes()}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.log)))
			for b.Loop() {
				trace, err := openBytes(c.log, Options{})
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for _, err := range trace.Jobs() {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != benchLines || trace.Warnings() != nil {
					b.Fatal(n, trace.Warnings())
				}
			}
			b.ReportMetric(benchLines*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// BenchmarkFromSlurm reads 100,000 jobs, and reports the bytes allocated for each.
func BenchmarkFromSlurm(b *testing.B) {
	const n = 100_000
	jobs := func(yield func(sacct.Record, error) bool) {
		for i := range int64(n) {
			job := sacct.Record{Job: workload.Job{ID: i, Submit: 1e9 + i, Start: 1e9 + i + i*i%5000, State: workload.Completed}}
			job.User, job.Limit, job.CPUs = "user", 3600, int32(1+i%64)
			job.End = job.Start + i*i%3600
			if !yield(job, nil) {
				return
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if log, err := FromSlurm(jobs); err != nil || log.Ran != n {
			b.Fatal(log, err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}
