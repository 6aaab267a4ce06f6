package study

import "errors"

// Studies returns all studies by name.
func Studies() map[string]Study {
	return map[string]Study{"downey": Downey{}, "forecasters": Methods{}, "smith": Smith{}, "varq": VARQ{}}
}

// ErrNoTraces is returned for a case of a study that replays real logs when
// Options has none.
var ErrNoTraces = errors.New("this study replays real logs")
