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
type Sighting struct {
	At     int64        `json:"at"`
	Job    workload.Job `json:"job"`
	Reason string       `json:"reason,omitempty"`
}

// Recorder looks at a cluster's queue.
type Recorder struct {
	Cluster *cluster.Cluster
	To      io.Writer
	// Gap is the time between two looks.
	Gap time.Duration
}

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
	began, last := time.Now().Unix(), map[int64]Sighting{}
	for next := time.Now(); ; next = next.Add(r.Gap) {
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
