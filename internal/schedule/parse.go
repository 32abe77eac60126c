package schedule

import (
	"errors"
	"strings"
)

// ParseTimes parses the result of String.
func ParseTimes(name string) (Times, error) {
	if interval, ok := strings.CutPrefix(name, "every "); ok {
		every, err := ParseDuration(interval)
		if err != nil {
			return Times{}, err
		}
		return NewTimes(TimesSpec{Every: every})
	}
	fields := strings.Fields(name)
	if len(fields) != 6 {
		return Times{}, errors.New("times are an interval, or five cron fields and a time zone")
	}
	return NewTimes(TimesSpec{Schedule: strings.Join(fields[:5], " "), TimeZone: fields[5]})
}
