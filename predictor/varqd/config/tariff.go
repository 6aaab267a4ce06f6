package config

import (
	"cmp"
	"time"

	"github.com/varq-project/varq/predictor/promise/tariff"
)

// SiteItself says how the cluster compares with others.
type SiteItself struct {
	// Power is that of its processors, in a unit that the sites have agreed on; 0 if they have not.
	Power float64 `yaml:"power"`
	// Tariff is what its users pay.
	Tariff Tariff `yaml:"tariff"`
}

// Tariff says what a billing unit costs, as Slurm counts them by TRESBillingWeights. Without it one
// costs 1 an hour.
type Tariff struct {
	// Unit is in what costs are told, such as EUR; empty means billing-hours.
	Unit string `yaml:"unit"`
	// UnitCost is what a billing unit costs for UnitTime; 0 stands for 1, and an hour.
	UnitCost float64  `yaml:"unit_cost"`
	UnitTime Duration `yaml:"unit_time"`
	// Scale has rules such as "Mon-Fri 08-18: 1.5" by which costs are multiplied at some hours.
	Scale []string `yaml:"scale"`
	// Accounts has by what the costs of some accounts are multiplied.
	Accounts map[string]float64 `yaml:"accounts"`
}

// tariff returns the tariff, whose hours are of a zone.
func (t *Tariff) tariff(zone *time.Location) (*tariff.Tariff, error) {
	week, err := tariff.ParseWeek(t.Scale)
	if err != nil {
		return nil, err
	}
	return tariff.New(tariff.Config{
		UnitCost: cmp.Or(t.UnitCost, 1), UnitSeconds: time.Duration(cmp.Or(t.UnitTime, Duration(time.Hour))).Seconds(),
		Scale: week, Accounts: t.Accounts, Zone: zone,
	})
}

// Prices returns the tariff of a configuration that was read, and the unit of its costs. Its hours
// are of a zone.
func (s *SiteItself) Prices(zone *time.Location) (*tariff.Tariff, string) {
	prices, _ := s.Tariff.tariff(zone) // was checked
	return prices, cmp.Or(s.Tariff.Unit, "billing-hours")
}
