package keeper

import (
	"fmt"
	"time"
)

// slurmTime writes Unix seconds as Slurm does, in the zone of this host.
func slurmTime(t int64) string { return time.Unix(t, 0).Format("2006-01-02T15:04:05") }

// slurmDuration writes seconds as Slurm writes a time limit.
func slurmDuration(s int64) string {
	days, s := s/86400, s%86400
	text := fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
	if days > 0 {
		text = fmt.Sprintf("%d-%s", days, text)
	}
	return text
}
