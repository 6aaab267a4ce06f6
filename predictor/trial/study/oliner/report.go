package oliner

import (
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/trial/study"
)

// Report implements study.Study.
func (s Study) Report(o study.Options, outcomes []study.Outcome) study.Report {
	r := study.ResultsOf(outcomes, s.seeds(o))
	return study.Report{
		Name:  "oliner",
		Title: "Oliner, Rudolph, Sahoo, Moreira and Gupta, Probabilistic QoS Guarantees for Supercomputing Systems (2005)",
		Tables: []study.Table{
			r.Table("Table 1: the jobs", jobLines()),
			r.Table("Section 5.1: what accuracy gains, a = 1 against a = 0 with U = 0.9", accuracyLines(o)),
			r.Table("Section 5.1: what users gain who ask for more, U = 0.9 against U = 0.1 with a = 1", userLines()),
			r.Table("Sections 5.1 and 5.2: what the figures show", shapeLines()),
			r.Table("Beyond the paper: deadlines, checkpoints and the rate of failures, with U = 0.9", r.Known(beyondLines(o))),
		},
		Differences: differences(o),
		Figures:     allFigures(r),
	}
}

// olinerOf returns a value with the accuracy a, in tenths, in a setting.
func (s setting) of(a int, value string) study.Measure {
	return study.Of(s.name(), "a="+tenths(a)+" "+value)
}

// shortNames are the names of the logs in the paper.
var shortNames = map[string]string{nasaLog: "NASA", sdscLog: "SDSC"}

func jobLines() []study.Line {
	var lines []study.Line
	for _, log := range []struct {
		name                 string
		nodes, work, longest float64
		note                 string
	}{
		{nasaLog, 6.3, 381, 12, "the paper's log has the operators' probes too: see below"},
		{sdscLog, 9.7, 7722, 132, ""},
	} {
		short, jobs := shortNames[log.name], jobsCase(log.name)
		lines = append(lines,
			study.Line{Name: short + ": nodes of a job, mean", Paper: study.Paper(log.nodes), Ours: study.Of(jobs, "nodes"), Note: log.note},
			study.Line{Name: short + ": run time of a job, mean", Unit: "s", Paper: study.Paper(log.work), Ours: study.Of(jobs, "work"), Note: log.note},
			study.Line{Name: short + ": longest run time", Unit: "h", Paper: study.Paper(log.longest), Ours: study.Of(jobs, "longest")})
	}
	return lines
}

// The notes of numbers that the paper gives as the greatest of all that it saw.
const (
	noteAsMuchAs = "the paper: as much as that, on either log"
	noteNotEnd   = noteAsMuchAs + "; time ends with the last job, and no long one is interrupted near the end"
	noteNothing  = "without foresight equation 1 performs no checkpoint, and an interrupted job begins anew"
)

// megaseconds is the unit of lost work: a million node-seconds.
const megaseconds = 1e6

func accuracyLines(o study.Options) []study.Line {
	var lines []study.Line
	for _, s := range allSettings(o) {
		if s.u != 9 {
			continue
		}
		qos, utilisation := s.of(10, "qos").Over(s.of(0, "qos")), s.of(10, "utilisation").Over(s.of(0, "utilisation"))
		lost := s.of(10, "lost").PartOf(s.of(0, "lost"))
		name := s.label()
		if s.kind != asInPaper {
			lines = append(lines,
				study.Line{Name: name + ": QoS", Unit: "% more", Ours: qos},
				study.Line{Name: name + ": utilisation", Unit: "% more", Ours: utilisation},
				study.Line{Name: name + ": work lost, a = 1", Unit: "% of that with a = 0", Ours: lost})
			continue
		}
		note := noteAsMuchAs
		if s.log == nasaLog {
			note = noteNotEnd
		}
		lines = append(lines,
			study.Line{Name: name + ": QoS", Unit: "% more", Paper: study.Paper(6), Ours: qos, Note: noteAsMuchAs},
			study.Line{Name: name + ": utilisation", Unit: "% more", Paper: study.Paper(6), Ours: utilisation, Note: note},
			study.Line{Name: name + ": work lost, a = 0", Unit: "million node-seconds", Ours: s.of(0, "lost").Per(megaseconds), Note: noteNothing},
			study.Line{Name: name + ": work lost, a = 1", Unit: "million node-seconds", Ours: s.of(10, "lost").Per(megaseconds)},
			study.Line{Name: name + ": work lost, a = 1", Unit: "% of that with a = 0", Paper: study.Paper(100. / 9), Ours: lost, Note: "the paper: 9 times less, 4.5 to 0.5 in Figures 5 and 6"})
	}
	return lines
}

// label returns the name of the setting's log in the paper, and the setting's kind.
func (s setting) label() string {
	if s.kind == asInPaper {
		return shortNames[s.log]
	}
	return shortNames[s.log] + ", " + string(s.kind)
}

func userLines() []study.Line {
	var lines []study.Line
	for _, log := range logs() {
		short := shortNames[log]
		low, high := setting{log: log, u: 1}, setting{log: log, u: 9}
		lines = append(lines,
			study.Line{Name: short + ": QoS", Unit: "% more", Paper: study.Paper(4), Ours: high.of(10, "qos").Over(low.of(10, "qos")), Note: "the paper: as high as that"},
			study.Line{Name: short + ": utilisation", Unit: "% more", Paper: study.Paper(3), Ours: high.of(10, "utilisation").Over(low.of(10, "utilisation")), Note: "with a = 1 little is lost whatever U, and nothing that ends the log later"},
			study.Line{Name: short + ": work lost", Unit: "% of that with U = 0.1", Paper: study.Paper(100. / 9), Ours: high.of(10, "lost").PartOf(low.of(10, "lost")), Note: "the paper: 9 times less"})
	}
	return lines
}

// spread returns by how much a value differs between some values of U, in tenths, with an accuracy
// a, in tenths.
func spread(log, value string, a int, users ...int) study.Measure {
	return func(r study.Results, seed uint64) float64 {
		var x []float64
		for _, u := range users {
			x = append(x, setting{log: log, u: u}.of(a, value)(r, seed))
		}
		return slices.Max(x) - slices.Min(x) // NaN if one is
	}
}

func shapeLines() []study.Line {
	sdsc := func(u int) setting { return setting{log: sdscLog, u: u} }
	nasa := func(u int) setting { return setting{log: nasaLog, u: u} }
	lowest := func(s setting) study.Measure {
		return func(r study.Results, seed uint64) float64 {
			var x []float64
			for _, a := range s.accuracies() {
				x = append(x, s.of(a, "qos")(r, seed))
			}
			return slices.Min(x)
		}
	}
	return []study.Line{
		{Name: "Figure 1: least QoS, SDSC, U = 0.9", Paper: study.Paper(.9), Ours: lowest(sdsc(9)).ShareOf(1), Note: "the paper: QoS tends to be from 0.9 to 1"},
		{Name: "Figure 2: least QoS, NASA, U = 0.9", Paper: study.Paper(.9), Ours: lowest(nasa(9)).ShareOf(1), Note: "the paper: QoS tends to be from 0.9 to 1"},
		{Name: "Figure 1: QoS, SDSC, a = 0.1 against a = 0, U = 0.9", Unit: "% more", Ours: sdsc(9).of(1, "qos").Over(sdsc(9).of(0, "qos")), Note: "the paper: an improvement even then"},
		{Name: "Figure 2: QoS, NASA, a = 0.8 against a = 0, U = 0.9", Unit: "% more", Paper: study.Paper(0), Ours: nasa(9).of(8, "qos").Over(nasa(9).of(0, "qos")), Note: "the paper: no benefit until about a = U"},
		{Name: "Figure 2: QoS, NASA, a = 0.7 against a = 0, U = 0.1", Unit: "% more", Paper: study.Paper(0), Ours: nasa(1).of(7, "qos").Over(nasa(1).of(0, "qos")), Note: "the paper: no benefit until a = 0.8, and a negligible one then"},
		{Name: "Figure 8: QoS, SDSC, a = 1, U = 1", Paper: study.Paper(1), Ours: sdsc(10).of(10, "qos").ShareOf(1)},
		{Name: "Figure 8: QoS, NASA, a = 1, U = 1", Paper: study.Paper(1), Ours: nasa(10).of(10, "qos").ShareOf(1)},
		{Name: "Figures 5 and 6: work lost, SDSC against NASA, a = 0", Unit: "times", Paper: study.Paper(10), Ours: sdsc(9).of(0, "lost").PartOf(nasa(9).of(0, "lost")).Per(100), Note: "the paper's NASA jobs are a quarter of ours: see Table 1"},
		{Name: "Figure 7: range of QoS, SDSC, a = 0.5, U from 0.6 to 1", Paper: study.Paper(0), Ours: spread(sdscLog, "qos", 5, 6, 7, 8, 9, 10), Note: "the paper: U has no effect while a < U; see below"},
		{Name: "Figure 7: range of QoS, SDSC, a = 0.5, U from 0 to 0.5", Ours: spread(sdscLog, "qos", 5, 0, 1, 2, 3, 4, 5), Note: "by equation 3 U has no effect while U is at most 1 - a"},
	}
}

func beyondLines(o study.Options) []study.Line {
	var lines []study.Line
	for _, s := range allSettings(o) {
		if s.u != 9 {
			continue
		}
		for _, a := range []int{0, 10} {
			for _, l := range []study.Line{
				{Name: "QoS", Ours: s.of(a, "qos").ShareOf(1)},
				{Name: "deadlines missed", Unit: "% of jobs", Ours: s.of(a, "missed").Times(100).ShareOf(100)},
				{Name: "goodput: work done", Unit: "% of the time that jobs had nodes", Ours: s.of(a, "goodput").Times(100).ShareOf(100)},
				{Name: "work lost", Unit: "million node-seconds", Ours: s.of(a, "lost").Per(megaseconds)},
				{Name: "checkpoints performed", Unit: "% of those requested", Ours: s.of(a, "performed").Times(100).ShareOf(100)},
				{Name: "submission to end", Unit: "h", Ours: s.of(a, "turnaround").Per(3600)},
			} {
				l.Name = fmt.Sprintf("%s, a = %s: %s", s.label(), tenths(a), l.Name)
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// allFigures returns the paper's Figures 1 to 12.
func allFigures(r study.Results) []study.Figure {
	accuracy, user := "a, accuracy of the prediction", "U, probability of success that a user asks for"
	quantities := []struct {
		title, value, y string
		per             float64
		near            bool
	}{
		{"QoS", "qos", "QoS", 1, true},
		{"Average utilisation", "utilisation", "utilisation", 1, true},
		{"Lost work", "lost", "work lost, million node-seconds", megaseconds, false},
	}
	var figures []study.Figure
	add := func(title, x, y string, near bool, series ...study.Series) {
		n := len(figures) + 1
		series = slices.DeleteFunc(series, func(s study.Series) bool { return len(s.X) == 0 })
		figures = append(figures, study.Figure{
			Name: fmt.Sprintf("figure%d", n), Title: fmt.Sprintf("Figure %d. %s", n, title), X: x, Y: y, Series: series, Near: near,
		})
	}
	for _, q := range quantities {
		for _, log := range []string{sdscLog, nasaLog} {
			var series []study.Series
			for _, u := range figureUsers {
				series = append(series, overScale(r, "U = "+tenths(u), func(a int) study.Measure {
					return setting{log: log, u: u}.of(a, q.value).Per(q.per)
				}))
			}
			add(q.title+" vs. accuracy, "+shortNames[log], accuracy, q.y, q.near, series...)
		}
	}
	by := func(name, log, value string, a int, per float64) study.Series {
		return overScale(r, name, func(u int) study.Measure { return setting{log: log, u: u}.of(a, value).Per(per) })
	}
	add("QoS vs. user behaviour, SDSC, a = 0.5", user, "QoS", true, by("a = 0.5", sdscLog, "qos", 5, 1))
	add("QoS vs. user behaviour, a = 1", user, "QoS", true, by("SDSC", sdscLog, "qos", 10, 1), by("NASA", nasaLog, "qos", 10, 1))
	for _, q := range quantities[1:] {
		for _, log := range []string{sdscLog, nasaLog} {
			add(q.title+" vs. user behaviour, "+shortNames[log]+", a = 1", user, q.y, q.near, by("a = 1", log, q.value, 10, q.per))
		}
	}
	return figures
}

// overScale returns the line of a measure over 0, .1, ... 1, where it is known.
func overScale(r study.Results, name string, at func(tenths int) study.Measure) study.Series {
	s := study.Series{Name: name}
	for _, x := range scale() {
		if y := r.Interval(at(x)); y.N > 0 {
			s.X, s.Y = append(s.X, float64(x)/10), append(s.Y, y.Mean)
		}
	}
	return s
}

func differences(o study.Options) []string {
	failures := []string{
		"The paper's failures are those of a year of 400 AIX machines, 1,021 on the first 128, which were never published. Ours are Los Alamos' (LA-UR-05-7318, system 20 from December 2001 to September 2005): all 1,116 failures of its first 128 nodes, 0 to 127. Between two of them 29.1 hours pass on average; time in that log is divided by 3.4, so that it is the paper's 8.5 hours and the log lasts 395 days. Rows named \"Los Alamos' own rate\" do not so.",
		"Los Alamos' log has a line for each failure of a node that somebody repaired. It is not filtered further; where several nodes failed in the same minute, each line counts. For how long a node was down is the paper's 120 s, not the log's.",
	}
	if o.Failures != nil {
		failures = []string{"The paper's failures are those of a year of 400 AIX machines, 1,021 on the first 128, which were never published. Ours are those of the file that --failures names: its first 128 nodes, at their own rate; if there are fewer, the others never fail. For how long a node was down is the paper's 120 s."}
	}
	d := slices.Concat(failures, []string{
		"The paper had one failure log, and draws one detectability for each failure. Each seed of ours draws other detectabilities, lets the job log begin at another time of the failure log, which begins again at its end, and numbers the nodes in another order. The confidence intervals are over these; every setting has the same ones.",
		"Jobs: the first 10,000 of each log that ran. SDSC's have the means of Table 1. NASA's are larger and longer: the log that the archive keeps in its cleaned form, which is ours, is without the operators' probes of single nodes, more than half of the original's lines. Its 128 nodes are 49 % busy, SDSC's 74 %.",
		"A job that runs for 0 s in the log runs for 1 s.",
		"Scheduling: at its submission a job gets the earliest start at which enough nodes are free, and of the free nodes those that the predictor calls, one by one, least likely to fail; start and nodes stay as they are, also where a job before it ends early because checkpoints were skipped. Such room goes to jobs that come later. The paper keeps the partition, and does not say whether it keeps the time.",
		"A user is offered, one after the other, the starts from which on other nodes are free or a failure that is foretold is over, until 1 - p_f >= U, for up to a whole length of the failure log; if there is none she takes the likeliest. Section 3.5 once says that the job is completed \"with probability p1\" where p1 is that of a failure: promised is 1 - p_f.",
		"The window of a job's forecast is from 120 s before its start, for a node that fails then is not up again, to its end if all its checkpoints are performed. That of a checkpoint is until the next would be complete, C + I + C later, or the job's end.",
		"Checkpoints are requested after each hour of work, but not at the end. One is skipped to save a deadline if the job would be late with it, and in time if this one and all others were skipped.",
		"A job that is interrupted gets the earliest start again, whatever its user's U: its deadline stands, and the promise is not made anew. Jobs that were to start on the node that failed are put off until it is up, on the nodes they have, and those that come after them there with them.",
		"The paper says that U has no effect while a < U, since no p_f exceeds a. That compares p_f with U. By its equation 3, p_j >= U with p_j = 1 - p_f, U has no effect while U <= 1 - a, which is what section 5.1 tells of U = 0.1, and ours does so exactly.",
		"Equation 1 performs no checkpoint where no failure is foretold: with a = 0 none at all, and hardly any with a = 1, for jobs are placed where none is. So a = 0 is not what clusters without forecasts do, which checkpoint by the clock; rows named \"every checkpoint\" do.",
		"Our gains in QoS, and SDSC's in utilisation and lost work, are greater than the paper's. With a = 0 a large job begins anew with each failure of its nodes: one of SDSC's, 64 nodes for 63 hours, up to 30 times. Utilisation divides by the time to the end of the last job, which such jobs put off by weeks. At Los Alamos' own rate, a failure in 29.1 hours, the gains are smaller.",
		"The units of the paper's Figures 5, 6, 11 and 12 are not in its text. It gives few numbers; rows without one say what it says in words.",
	})
	if o.Quick {
		d = append([]string{fmt.Sprintf("Quick: only the first %d jobs of each log, so that the end of the last job, and with it utilisation, is more a matter of chance.", quickJobs)}, d...)
	}
	return d
}
