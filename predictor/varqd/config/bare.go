package config

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/promise/esr"
	"github.com/varq-project/varq/predictor/promise/tariff"
)

// Bare says of a site without varqd what this cluster's varqd, which estimates its slots, has to
// know.
type Bare struct {
	// Slurmrestd is the cluster's; nil for a site with varqd.
	Slurmrestd *Slurmrestd `yaml:"slurmrestd"`
	// Estimate is the method by which slots are estimated, one of esr's; empty stands for
	// esr.MethodLoad.
	Estimate string `yaml:"estimate"`
	// StaticScale is h of the method static; 0 stands for the paper's five hours.
	StaticScale Duration `yaml:"static_scale"`
	// Partition is the one for jobs that name none, where slurmrestd does not tell it.
	Partition string `yaml:"partition"`
	// Late is how late a job may start before Slurm cancels it, and one that nobody has confirmed;
	// 0 stands for a day.
	Late Duration `yaml:"late"`
	// Power and Tariff are as of SiteItself.
	Power  float64 `yaml:"power"`
	Tariff Tariff  `yaml:"tariff"`
}

// HasNoVarqd reports whether the cluster has no varqd.
func (b *Bare) HasNoVarqd() bool { return b.Slurmrestd != nil }

// Method returns the method by which slots are estimated.
func (b *Bare) Method() string { return cmp.Or(b.Estimate, esr.MethodLoad) }

// Scale returns h of the method static, in seconds.
func (b *Bare) Scale() float64 {
	return cmp.Or(time.Duration(b.StaticScale).Seconds(), esr.PaperScale)
}

// Lateness returns Late in seconds.
func (b *Bare) Lateness() int64 {
	return int64(cmp.Or(time.Duration(b.Late), 24*time.Hour).Seconds())
}

// Prices returns the tariff of a configuration that was read, and the unit of its costs. Its hours
// are of a zone.
func (b *Bare) Prices(zone *time.Location) (*tariff.Tariff, string) {
	itself := SiteItself{Tariff: b.Tariff}
	return itself.Prices(zone)
}

// Bounds of a job's lateness.
const (
	leastLate = Duration(time.Second)
	mostLate  = Duration(30 * 24 * time.Hour)
)

// checkBare checks what a site without varqd says, and that others do not say it.
func (b *Bare) checkBare(key string, bad func(key, format string, args ...any)) {
	if !b.HasNoVarqd() {
		for _, of := range []struct {
			key string
			is  bool
		}{
			{"estimate", b.Estimate != ""}, {"static_scale", b.StaticScale != 0}, {"late", b.Late != 0}, {"partition", b.Partition != ""}, {"power", b.Power != 0},
			{"tariff", b.Tariff.Unit != "" || b.Tariff.UnitCost != 0 || b.Tariff.UnitTime != 0 || len(b.Tariff.Scale) > 0 || len(b.Tariff.Accounts) > 0},
		} {
			if of.is {
				bad(key+of.key, "it is of a cluster without varqd, which has the key slurmrestd; the varqd of this one says it itself")
			}
		}
		return
	}
	r := b.Slurmrestd
	if !reachable(r.URL) {
		bad(key+"slurmrestd.url", "%q is none of http://HOST:PORT, https://HOST:PORT and unix:///PATH", r.URL)
	}
	if r.Timeout < 0 {
		bad(key+"slurmrestd.timeout", "%v is less than 0", r.Timeout)
	}
	if methods := []string{esr.MethodStatic, esr.MethodHistory, esr.MethodLoad}; !slices.Contains(methods, b.Method()) {
		bad(key+"estimate", "%q is none of %s", b.Estimate, strings.Join(methods, ", "))
	}
	if b.StaticScale < 0 {
		bad(key+"static_scale", "%v is less than 0", b.StaticScale)
	}
	if b.Late != 0 && (b.Late < leastLate || b.Late > mostLate) {
		bad(key+"late", "%v does not lie between %v and %v", b.Late, leastLate, mostLate)
	}
	if !(b.Power >= 0 && b.Power <= 1e12) {
		bad(key+"power", "%v is not that of a processor", b.Power)
	}
	if _, err := b.Tariff.tariff(time.UTC); err != nil {
		bad(key+"tariff", "%v", err)
	}
}
