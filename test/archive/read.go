package archive

import (
	"iter"
	"testing"

	"github.com/varq-project/varq/predictor/logs/swf"
	"github.com/varq-project/varq/predictor/workload"
)

// open opens the log that Log finds, and closes it when the test ends.
func open(t testing.TB, name string) *swf.Reader {
	t.Helper()
	log, err := swf.Open(Log(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}

// Jobs yields the jobs of the log that Log finds. A read error fails the test.
func Jobs(t testing.TB, name string) iter.Seq[workload.Job] { return sound(t, open(t, name).Jobs()) }

// Records yields the records of the log that Log finds, as they are in the file. A read
// error fails the test.
func Records(t testing.TB, name string) iter.Seq[swf.Record] {
	return sound(t, open(t, name).Records())
}

func sound[T any](t testing.TB, list iter.Seq2[T, error]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for one, err := range list {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(one) {
				return
			}
		}
	}
}
