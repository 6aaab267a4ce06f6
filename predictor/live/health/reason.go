package health

import (
	"slices"
	"strings"
	"unicode"
)

// cause is what a reason says about a node.
type cause int

const (
	unclear  cause = iota // nothing that is known here
	lost                  // Slurm has lost the node: a failure, unless it was out of service anyway
	broken                // its hardware failed, or it does not boot
	unkilled              // processes of a job could not be killed
	unwell                // a check failed, or what Slurm itself does there
	rebooted              // it is rebooted on purpose
	planned               // people work on it
	idled                 // it is powered down or not there yet
	artefact              // an entry of accounting that stands for nothing that happened
)

// slurmReasons are Slurm's own reasons, in lower case, by where its source has them. What a person
// writes may say the same in the same words.
var slurmReasons = []struct {
	part  string
	cause cause
}{
	// slurmctld/ping_nodes.c: for SlurmdTimeout.
	{"not responding", lost},
	// slurmctld/node_mgr.c: when a slurmd registers. With ReturnToService=2 the second is never
	// said.
	{"did not respond", lost},
	{"unexpectedly rebooted", lost},
	{"low realmemory", broken},
	{"low socket*core*thread count", broken},
	{"low cpus", broken},
	{"low tmpdisk", unwell},
	{"corespec differ", unwell},
	{"reported active features", unwell},
	{"prolog error", unwell},
	{"job env setup error", unwell},
	// interfaces/gres.c: gres/gpu count reported lower than configured (7 < 8).
	{"count reported lower than configured", broken},
	{"count too low", broken},
	{"could not unpack gres data", unwell},
	// slurmctld/node_mgr.c, controller.c and proc_req.c: scontrol reboot.
	{"reboot timed out", broken},
	{"reboot issued", rebooted},
	{"reboot requested", rebooted},
	{"reboot asap", rebooted},
	{"reboot complete", rebooted},
	// slurmctld/power_save.c: the node was to be powered up.
	{"resumetimeout reached", broken},
	{"powered down", idled},
	{"power_down_asap", idled},
	// slurmctld/node_mgr.c and controller.c: a node of State=FUTURE.
	{"set to state=future", idled},
	// slurmctld/agent.c, job_mgr.c and proc_req.c.
	{"prolog/epilog failure", unwell},
	{"epilog error", unwell},
	{"duplicate jobid", unwell},
	{"batch job complete failure", unwell},
	// slurmd, slurmstepd, and plugins.
	{"kill task failed", unkilled},
	{"job not running", unwell},
	{"slurmdspooldir is full", unwell},
	{"switch_g_job_postfini failed", unwell},
	{"failed to set node feature", unwell},
	{"bad core count", unwell},
	// What people have written into slurm.conf, and a name that cannot be resolved.
	{"set in slurm.conf", planned},
	{"no network address found", planned},
	// Accounting: slurmctld started without its state (-c), a node's extra was set, or a node is
	// new.
	{"cold-start", artefact},
	{"node-update", artefact},
	{"first registration", artefact},
}

// nhcBroken are the checks of LBNL's Node Health Check that find hardware that has failed. It marks
// a node "NHC: CHECK: what it found". Its other checks, of processes, files, file systems, load and
// the free part of the memory, find what a failed node has too, but so has one that a job has used
// up.
var nhcBroken = []string{
	"check_hw_cpuinfo", "check_hw_physmem", "check_hw_swap", "check_hw_mem", "check_hw_ib", "check_hw_gm", "check_hw_eth", "check_hw_mcelog",
	"check_nv_healthmon", "check_nvsmi_healthmon", "csc_nvidia_smi",
}

// words are single words by which people say why they took a node out of service. Those of planned
// work come first: what is drained for an upgrade of its DIMMs has not failed.
var words = []struct {
	cause cause
	words []string
}{
	{planned, []string{
		"upgrade", "upgrading", "update", "updating", "maintenance", "maint", "firmware", "bios", "install", "reinstall", "reimage",
		"planned", "scheduled", "move", "moving", "decommission", "decommissioned", "retired", "test", "testing", "benchmark", "reserved",
	}},
	{broken, []string{
		"hardware", "dimm", "dimms", "ecc", "edac", "uncorrectable", "mce", "xid", "motherboard", "mainboard", "psu", "overheating", "overheated",
		"panic", "panicked", "crash", "crashed", "dead", "died", "broken", "defective", "faulty", "hung", "rma",
	}},
	{unwell, []string{"nhc", "health", "healthcheck", "hc"}},
}

// appended stands before what Slurm appends to a reason.
const appended = " : "

// causeOf returns what a node's reason says. Slurm appends what befalls a node that has a reason
// already, so that its last part counts, unless that is none of Slurm's.
func causeOf(reason string) cause {
	reason = strings.ToLower(reason)
	last := reason
	if i := strings.LastIndex(reason, appended); i >= 0 {
		last = reason[i+len(appended):]
	}
	for _, r := range slurmReasons {
		if strings.Contains(last, r.part) {
			return r.cause
		}
	}
	if strings.TrimSpace(last) == "future" {
		return idled
	}
	if check, ok := strings.CutPrefix(reason, "nhc:"); ok {
		name, _, _ := strings.Cut(strings.TrimSpace(check), ":")
		for _, check := range nhcBroken {
			if strings.HasPrefix(name, check) && !strings.HasSuffix(name, "_free") {
				return broken
			}
		}
		return unwell
	}
	// The least place in the list of words counts.
	said := len(words)
	for word := range strings.FieldsFuncSeq(reason, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for i := range said {
			if slices.Contains(words[i].words, word) {
				said = i
				break
			}
		}
	}
	if said < len(words) {
		return words[said].cause
	}
	return unclear
}
