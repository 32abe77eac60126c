package app

import (
	"context"
	"log/slog"
	"time"
)

// maxSkew is how far this machine's clock may be from the database's. A minute is what
// hints are believed that seem older than the round (hintSlack).
const maxSkew = 10 * time.Second

// tellClock says that the clock of this machine is wrong: looks come too early again and
// again, or hints seem to be of before what was read.
func (s *service) tellClock(ctx context.Context) {
	skew, err := s.db.ClockSkew(ctx, s.now)
	if err != nil || skew.Abs() <= maxSkew { // a database that does not answer has lines of its own
		return
	}
	s.Log.WarnContext(ctx, "the clock of this machine differs from the database server's: set both, for instance with NTP",
		slog.Duration("ahead", skew.Round(time.Second)))
}
