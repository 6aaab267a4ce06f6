package slurm

import "strings"

// AtLimit reports whether a job that is pending for this reason waits for a limit on what
// its user, account or array may have at once. The limits of a whole QOS (QOSGrpCpuLimit) are
// no such: whoever uses that QOS waits for them, as for nodes; see QOSFull.
func AtLimit(reason string) bool {
	return strings.HasPrefix(reason, "Assoc") || strings.HasPrefix(reason, "QOSMax") || reason == "JobArrayTaskLimit" ||
		strings.HasPrefix(reason, "Max") && strings.HasSuffix(reason, "PerAccount") // of a QOS, too
}

// QOSFull reports whether a job that is pending for this reason waits for a limit on what all jobs
// of its QOS, or of that of its partition, may have at once.
func QOSFull(reason string) bool { return strings.HasPrefix(reason, "QOSGrp") }

// BeyondLimit reports whether a job that is pending for this reason asks for more than a job may
// have in its partition, QOS or association. It does not start unless the job or the limit is
// changed.
func BeyondLimit(reason string) bool {
	switch reason {
	case "PartitionTimeLimit", "PartitionNodeLimit", "AssociationTimeLimit":
		return true
	}
	return strings.HasSuffix(reason, "PerJob") || strings.HasSuffix(reason, "PerJobLimit")
}
