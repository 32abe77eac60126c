// Package schedule says when something may happen: windows that allow or deny,
// by a cron schedule or by dates, and when something comes again, each in its own
// time zone. It also reads the durations of the config files.
//
// A window's start is inside it and its end is not. A deny wins over every
// allow; several allows are joined; without any allow all time is open that no
// deny takes. Times are starts alone, by a cron schedule or after each interval.
//
// # Clock changes
//
// The wall clock is read by RFC 5545, section 3.3.5. A start in the hour that is
// skipped in spring counts with the offset before the change: a window at 02:30
// begins at 03:30. A start in the hour that comes twice in autumn begins the
// first time only. Schedules of every hour follow elapsed time instead and begin
// both times, as in cron. A duration is elapsed time: eight hours are eight
// hours on both days.
//
// The package holds the time zone database for machines that have none.
package schedule
