package order

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
)

// Sighting is what was seen of a job at a time, Unix seconds, that was not seen so before. Reason
// is why it was pending, as Slurm writes it. A recording is a line of JSON for each sighting, in
// the order of time: first those of the queue, and then one of each run in accounting.
//
// Other sightings are of the whole queue, and have no job. Expected is when Slurm itself expects
// pending jobs to start, by ID, of those of which this was not seen so before: Unix seconds, or 0
// if it expects nothing any more. Tested is when sbatch --test-only said that jobs would start,
// just before they were submitted.
type Sighting struct {
	At       int64           `json:"at"`
	Job      workload.Job    `json:"job,omitzero"`
	Reason   string          `json:"reason,omitempty"`
	Expected map[int64]int64 `json:"expected,omitempty"`
	Tested   map[int64]int64 `json:"tested,omitempty"`
}

// Recorder looks at a cluster's queue.
type Recorder struct {
	Cluster *cluster.Cluster
	To      io.Writer
	// Gap is the time between two looks.
	Gap time.Duration
}

// outlooks is at every how many looks the times are recorded at which Slurm expects jobs to start.
const outlooks = 2

// Record records the queue until done is closed and no job is left, and then accounting.
func (r *Recorder) Record(ctx context.Context, done <-chan struct{}) error {
	token, err := r.Cluster.Token(ctx, "varq", 24*time.Hour)
	if err != nil {
		return err
	}
	client, err := slurmrestd.New(slurmrestd.Options{URL: r.Cluster.RestURL(), User: "varq", Token: func() (string, error) { return token, nil }})
	if err != nil {
		return err
	}
	defer client.Close()
	began, last, expected := time.Now().Unix(), map[int64]Sighting{}, map[int64]int64{}
	for look, next := 0, time.Now(); ; look, next = look+1, next.Add(r.Gap) {
		if err := cluster.Sleep(ctx, time.Until(next)); err != nil {
			return err
		}
		at := time.Now().Unix()
		queue, err := client.Queue(ctx)
		if err != nil {
			return err
		}
		if err := r.look(queue, at, last); err != nil {
			return err
		}
		if look%outlooks == 0 {
			if err := r.outlook(queue, at, expected); err != nil {
				return err
			}
		}
		select {
		case <-done:
			if len(queue) == 0 {
				return r.accounting(ctx, client, began)
			}
		default:
		}
	}
}

// look writes what of the queue was not seen so before.
func (r *Recorder) look(queue []slurm.QueueEntry, at int64, last map[int64]Sighting) error {
	for i := range queue {
		seen := Sighting{Job: queue[i].Job, Reason: queue[i].Reason}
		if reflect.DeepEqual(last[seen.Job.ID], seen) {
			continue
		}
		last[seen.Job.ID] = seen
		seen.At = at
		if err := json.NewEncoder(r.To).Encode(&seen); err != nil {
			return err
		}
	}
	return nil
}

// outlook writes when Slurm expects jobs to start, as far as that was not seen so before.
func (r *Recorder) outlook(queue []slurm.QueueEntry, at int64, last map[int64]int64) error {
	seen := Sighting{At: at, Expected: map[int64]int64{}}
	for i := range queue {
		if j := &queue[i]; j.State == workload.Pending && j.Expected != last[j.ID] {
			last[j.ID], seen.Expected[j.ID] = j.Expected, j.Expected
		}
	}
	return json.NewEncoder(r.To).Encode(&seen)
}

// accounting writes the runs since a time. Accounting lags behind by seconds.
func (r *Recorder) accounting(ctx context.Context, client *slurmrestd.Client, since int64) error {
	if err := cluster.Sleep(ctx, 10*time.Second); err != nil {
		return err
	}
	at := time.Now().Unix()
	for j, err := range client.History(ctx, since, at, func(slurm.Progress) {}) {
		if err != nil {
			return fmt.Errorf("accounting: %w", err)
		}
		if err := json.NewEncoder(r.To).Encode(&Sighting{At: at, Job: j}); err != nil {
			return err
		}
	}
	return nil
}
