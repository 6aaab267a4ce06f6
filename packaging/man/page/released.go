package page

import (
	"errors"
	"regexp"
	"time"
)

var release = regexp.MustCompile(`(?m)^## \[\d\S*\] - (\S+)$`)

// Released returns the day of the latest release in a CHANGELOG.md. A page that is written again
// without a release in between has the same date, whatever the clock says.
func Released(changelog string) (time.Time, error) {
	latest := release.FindStringSubmatch(changelog)
	if latest == nil {
		return time.Time{}, errors.New("the changelog has no release")
	}
	return time.Parse(time.DateOnly, latest[1])
}
