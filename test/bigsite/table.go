package bigsite

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Write writes the result as a table in Markdown, and below it why jobs were not accepted.
func (r *Result) Write(to io.Writer) error {
	var b strings.Builder
	o := &r.Options
	fmt.Fprintf(&b, "%d nodes, %d jobs running, %d and an array of %d tasks waiting, %d reservations open;\n", o.Nodes, o.Running, o.Pending, o.Tasks, o.Reservations)
	fmt.Fprintf(&b, "for %v, %g submissions a second, %g of them with varq's options. The commands, Slurm and varqd share %d processors and %.0f GiB.\n\n",
		o.Duration, o.Rate, o.Reserving, r.Machine.Processors, r.Machine.GiB)
	fmt.Fprint(&b, "| | with varq | without |\n|---|---|---|\n")
	row := func(name string, cell func(*Figures) string) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, cellOf(r.With, cell), cellOf(r.Without, cell))
	}
	row("submissions a second", func(f *Figures) string { return fmt.Sprintf("%.1f", f.Rate) })
	row("processors busy", func(f *Figures) string { return fmt.Sprintf("%.2f", f.Busy) })
	row("`sbatch`: p50 / p99 / max, ms", func(f *Figures) string { return f.Plain.latencies() })
	row("accepted / failed", func(f *Figures) string { return fmt.Sprintf("%d / %d", f.Plain.Accepted, f.Plain.Failed) })
	row("`sbatch --begin-by` (without: `--begin`): p50 / p99 / max, ms", func(f *Figures) string { return f.Reserving.latencies() })
	row("promised / refused / failed", func(f *Figures) string {
		return fmt.Sprintf("%d / %d / %d", f.Reserving.Accepted, f.Reserving.Refused, f.Reserving.Failed)
	})
	for _, d := range []string{"varqd", "slurmrestd", "slurmctld", "slurmdbd", "mariadbd"} {
		row(d+": CPU, s / peak memory, MiB", func(f *Figures) string {
			u, ok := f.Daemons[d]
			if !ok {
				return ""
			}
			return fmt.Sprintf("%.1f / %.0f", u.CPU, u.MiB)
		})
	}
	varqd := func(name string, cell func(*Varqd) string) {
		row(name, func(f *Figures) string {
			if f.Varqd == nil {
				return ""
			}
			return cell(f.Varqd)
		})
	}
	varqd("varqd's answers to `sbatch`: mean / p50 / p99, ms", func(v *Varqd) string { return v.Plans.in(1000) })
	varqd("reads of the queue: number / mean / p99, s", func(v *Varqd) string {
		return fmt.Sprintf("%d / %.1f / %s", v.Reads.Count, v.Reads.Mean, bound(v.Reads.P99, 1))
	})
	varqd("looks at the queue: number / mean / p99, s", func(v *Varqd) string {
		return fmt.Sprintf("%d / %.1f / %s", v.Looks.Count, v.Looks.Mean, bound(v.Looks.P99, 1))
	})
	varqd("reads not answered in time", func(v *Varqd) string { return fmt.Sprint(v.Unanswered) })
	varqd("age of varqd's picture: mean / max, s", func(v *Varqd) string { return fmt.Sprintf("%.0f / %.0f", v.AgeMean, v.AgeMax) })
	varqd("slurmrestd busy for varqd, share of the time", func(v *Varqd) string { return fmt.Sprintf("%.2f", v.Load) })
	varqd("jobs moved", func(v *Varqd) string { return fmt.Sprint(v.Moves) })
	varqd("promises settled", func(v *Varqd) string { return counts(v.Settled) })
	varqd("failures of varqd's loops", func(v *Varqd) string { return counts(v.Errors) })
	row("records in the queue before", func(f *Figures) string { return counts(f.Before) })
	row("records in the queue after", func(f *Figures) string { return counts(f.After) })
	row("open reservations made before: a second / tried in vain", func(f *Figures) string {
		return fmt.Sprintf("%.1f / %d", float64(f.Fill.Reservations)/max(f.Fill.Seconds, 1e-3), f.Fill.InVain)
	})
	for _, one := range []struct {
		name string
		f    *Figures
	}{{"with varq", r.With}, {"without", r.Without}} {
		if one.f != nil {
			reasons(&b, one.name+", plain", one.f.Plain.Reasons)
			reasons(&b, one.name+", with options", one.f.Reserving.Reasons)
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

func cellOf(f *Figures, cell func(*Figures) string) string {
	if f == nil {
		return ""
	}
	return cell(f)
}

func (s *Submissions) latencies() string {
	return fmt.Sprintf("%.0f / %.0f / %.0f", s.P50, s.P99, s.Max)
}

// in writes a timing in another unit, of which there are so many in a second.
func (t Timing) in(unit float64) string {
	return fmt.Sprintf("%.1f / %s / %s", unit*t.Mean, bound(t.P50, unit), bound(t.P99, unit))
}

// bound writes the bound of a quantile, in a unit of which there are so many in a second.
func bound(seconds, unit float64) string {
	if seconds < 0 {
		return "beyond"
	}
	return fmt.Sprintf("≤ %g", unit*seconds)
}

// counts writes counts by name.
func counts(of map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%s %d", strings.ToLower(name), of[name]))
	}
	return strings.Join(parts, ", ")
}

// reasons lists why jobs were not accepted.
func reasons(b *strings.Builder, of string, counts map[string]int) {
	for i, why := range slices.Sorted(maps.Keys(counts)) {
		if i == 0 {
			fmt.Fprintf(b, "\nNot accepted, %s:\n", of)
		}
		fmt.Fprintf(b, "%6d  %s\n", counts[why], why)
	}
}
