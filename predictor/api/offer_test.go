package api

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/workload"
)

func TestOfferOptions(t *testing.T) {
	const noon = 1795262400 // 2026-11-21T12:00:00 in UTC
	job := workload.Request{Size: workload.Size{Nodes: 4, CPUs: 16}, Limit: 7200}
	strict := PlanRequest{Job: job, Prob: .9, BeginBy: noon}
	window := PlanRequest{Job: job, BeginBy: noon, BeginAfter: noon - 600}
	later := Offer{Kind: OfferLater, Prob: .9, BeginBy: noon + 3600, HoldUntil: noon + 3000}
	tokyo := time.FixedZone("JST", 9*3600)
	for _, c := range []struct {
		offer   Offer
		refused PlanRequest
		zone    *time.Location
		want    string
	}{
		{Offer{Kind: OfferProb, Prob: .97}, strict, time.UTC, "--prob=0.97"},
		{Offer{Kind: OfferFree, Prob: .9, BeginBy: noon}, strict, time.UTC, "--best-effort"},
		{Offer{Kind: OfferFree, Prob: .9, BeginBy: noon + 3600}, strict, tokyo, "--best-effort --begin-by=2026-11-21T22:00:00"},
		{Offer{Kind: OfferFree, Prob: .8, BeginBy: noon}, strict, time.UTC, "--best-effort --prob=0.8"},
		// whatever the site's is
		{Offer{Kind: OfferFree, Prob: .9, BeginBy: noon}, PlanRequest{Job: job, BeginBy: noon}, time.UTC, "--best-effort --prob=0.9"},
		{later, strict, time.UTC, "--begin-by=2026-11-21T13:00:00"},
		{later, window, time.UTC, "--begin-by=2026-11-21T13:00:00 --begin-after=2026-11-21T12:50:00"},
		{later, window, tokyo, "--begin-by=2026-11-21T22:00:00 --begin-after=2026-11-21T21:50:00"},
		{Offer{Kind: OfferNodes, Nodes: 2, CPUs: 8}, strict, time.UTC, "--nodes=2"},
		{Offer{Kind: OfferNodes, Nodes: 4, CPUs: 8}, strict, time.UTC, "--ntasks=8"},
		{
			Offer{Kind: OfferNodes, Nodes: 4, CPUs: 8, Scale: []workload.Counted{{Option: "--ntasks=", Count: 4}, {Option: "--gpus=a100:", Count: 2}}},
			strict, time.UTC, "--ntasks=4 --gpus=a100:2",
		},
		{Offer{Kind: OfferCost, Worst: Cost{NodeSeconds: 4801}}, strict, time.UTC, "--max-cost=1.34"},
		{Offer{Kind: OfferTime, Limit: 5400}, strict, time.UTC, "--time=01:30:00"},
	} {
		got := c.offer.Options(&c.refused, c.zone)
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%+v in %v: %v, want %s", c.offer, c.zone, got, c.want)
		}
	}
}

// TestCeiling: a bound is rounded up, and no more than that.
func TestCeiling(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0.00", 1: "0.01", 36: "0.01", 36.5: "0.02", 252: "0.07", 660: "0.19", 3600: "1.00"} {
		if got := HoursUp(seconds); got != want {
			t.Errorf("%v s: %s, want %s", seconds, got, want)
		}
	}
	if got := (Cost{NodeSeconds: 660, BillingSeconds: 2640}).RoundedUp(); got != "0.19 node-hours, 0.74 billing-hours" {
		t.Error(got)
	}
}
