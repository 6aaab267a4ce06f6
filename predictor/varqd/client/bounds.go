package client

import (
	"strings"

	"github.com/varq-project/varq/predictor/api"
)

// Bounds of answers, in bytes: who answers may be another site's varqd, and who asks varqd itself.
const (
	// maxOne is that of what is about one thing, or of a refusal.
	maxOne = 64 << 10
	// maxMember and maxGroup are those of a group that is asked about, with its members and
	// without.
	maxMember, maxGroup = 16 << 10, 2 << 10
	// maxDelays is that of three months of delays by the hour.
	maxDelays = 512 << 10
	// maxPlans is that of what many plans were made for.
	maxPlans = 8 << 20
	// maxList is that of a list, which is as long as the cluster is large or the user busy. The
	// process is the user's own.
	maxList = 64 << 20
	// maxRelayed is that of any answer that is relayed: many may be at once.
	maxRelayed = 8 << 20
)

// mostOf returns the bound of the answer to a question at a path.
func mostOf(path string, question any) int64 {
	path, _, _ = strings.Cut(path, "?")
	switch path {
	case api.PathReservations, api.PathFlowStates, api.PathReport, api.PathCalibration, api.PathNodes, api.PathNodesScores, api.PathShadow:
		return maxList
	case api.PathPlan, api.PathWhen, api.PathFlows, api.PathQuote, api.PathProbe, api.PathSize, api.PathLimits, api.PathSites:
		return maxPlans
	case api.PathDelays:
		return maxDelays
	}
	if q, ok := question.(api.GroupsQuery); ok {
		each := maxGroup
		if q.Members {
			each = maxMember
		}
		return maxOne + int64(each*len(q.Groups))
	}
	return maxOne
}
