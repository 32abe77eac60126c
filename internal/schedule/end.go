package schedule

import (
	"fmt"
	"time"
)

// ParseEnd reads when something ends, as ParseMoment does, in UTC and whole seconds. The empty
// text has no end.
func ParseEnd(text string, now time.Time) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no end is no error
	}
	at, err := ParseMoment(text, now.UTC())
	if err != nil {
		return nil, err
	}
	at = at.UTC().Truncate(time.Second)
	if !at.After(now) {
		return nil, fmt.Errorf("%s is past", at.Format(time.RFC3339))
	}
	return &at, nil
}
