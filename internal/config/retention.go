package config

import "time"

// Retention is how long the database keeps things.
type Retention struct {
	Deliveries     time.Duration
	DeliveriesSize int64         // in bytes
	History        time.Duration // 0: for ever
}

// Defaults of Retention.
const (
	DefaultDeliveries     = 30 * day
	DefaultDeliveriesSize = 1 << 30
)

// minRetention: what is kept for less could be gone before it was looked at.
const minRetention = time.Hour

func (l *serverLoader) retention() {
	raw := l.raw.Retention
	if raw == nil {
		raw = &rawRetention{}
	}
	l.server.Retention = Retention{
		Deliveries:     l.kept(raw.Deliveries, "retention.deliveries", DefaultDeliveries),
		DeliveriesSize: l.size(raw.DeliveriesSize, "retention.deliveriesSize", DefaultDeliveriesSize),
		History:        l.kept(raw.History, "retention.history", 0),
	}
}

func (l *serverLoader) kept(raw at[time.Duration], key string, otherwise time.Duration) time.Duration {
	if raw.ok() && raw.Value < minRetention {
		l.failf(raw.Position, "write at least 1h, as in 30d", "%s is too short", key)
	}
	return or(raw, otherwise)
}

// Words writes a duration as files have it: 30d, 1h30m.
func Words(d time.Duration) string { return formatDuration(d) }
