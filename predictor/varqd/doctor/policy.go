package doctor

import (
	"github.com/varq-project/varq/predictor/promise/policy"
)

// UncheckedPolicy says that the names in the rules of the site's policy were compared with nothing.
var UncheckedPolicy = ok("policy", "the names in its rules were not checked against Slurm: --live does that")

// lists has the commands that list what Slurm has, by the kinds of policy.Unknown.
var lists = map[string]string{
	"partition": "scontrol show partition", "account": "sacctmgr show account", "qos": "sacctmgr show qos", "user": "sacctmgr show association",
}

// Policy examines the names in the rules of the site's policy. unknown are those that Slurm does
// not have, unless err says why that could not be found out.
func Policy(unknown []policy.Unknown, err error) []Finding {
	const of = "policy"
	if err != nil {
		return []Finding{warning(of, err, "the names in its rules could not be checked against Slurm: "+askSlurmrestd(err))}
	}
	if len(unknown) == 0 {
		return []Finding{ok(of, "Slurm has all the names in its rules")}
	}
	var findings []Finding
	for _, u := range unknown {
		findings = append(findings, warning(of, u, "correct the name in varq.yaml, or the rule selects nothing by it; "+lists[u.Kind]+" lists those that Slurm has"))
	}
	return findings
}
