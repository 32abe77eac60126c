// Package schedule computes when something may happen: windows that allow or
// deny, by a cron schedule or by dates, and recurring times, each in its own
// time zone. It also parses the durations of the config files.
//
// A window includes its start and excludes its end. A deny takes precedence
// over every allow, and several allows are combined. Without any allow, all
// time that no deny covers is open. Times have only starts, by a cron schedule
// or after each interval.
//
// # Clock changes
//
// The wall clock is interpreted according to RFC 5545, section 3.3.5. A start
// in the hour that is skipped in spring uses the offset before the change: a
// window at 02:30 begins at 03:30. A start in the hour that is repeated in
// autumn begins only the first time. Hourly schedules follow elapsed time
// instead and begin both times, as in cron. A duration is elapsed time: eight
// hours are eight hours on both days.
//
// The package embeds the time zone database for machines that have none.
package schedule
