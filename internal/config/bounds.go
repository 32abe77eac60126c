package config

import (
	"strconv"
	"strings"
)

func (l *serverLoader) rateLimits() {
	for _, raw := range l.raw.RateLimits {
		if raw.bad {
			continue
		}
		if !raw.Host.set() || raw.Host.ok() && !validHostGlob(raw.Host.Value) {
			l.failf(orPlace(raw.Host.place, raw.place), "write host: HOST, or a glob with *", "a rate limit says no host")
		}
		if !raw.PerSecond.set() && !raw.Burst.set() && !raw.Concurrent.set() {
			l.failf(raw.Position, "add perSecond, burst or concurrent", "a rate limit limits nothing")
		}
		l.positive(raw.PerSecond, "perSecond")
		l.positive(raw.Burst, "burst")
		l.positive(raw.Concurrent, "concurrent")
		l.server.RateLimits = append(l.server.RateLimits, RateLimit{
			Position: raw.Position, Host: raw.Host.Value,
			PerSecond: raw.PerSecond.Value, Burst: raw.Burst.Value, Concurrent: raw.Concurrent.Value,
		})
	}
}

func validHostGlob(s string) bool {
	return s != "" && !strings.ContainsAny(s, " /?[]{}\\@")
}

// maxRate is more than any host allows.
const maxRate = 10_000

func (l *serverLoader) positive(number at[int], key string) {
	if number.ok() && (number.Value < 1 || number.Value > maxRate) {
		l.failf(number.Position, "remove it for the default", "%s must be 1 to %d", key, maxRate)
	}
}

func (l *serverLoader) sizes() {
	raw := l.raw.Sizes
	if raw == nil {
		raw = &rawSizes{}
	}
	l.server.Sizes = Sizes{
		File:   l.size(raw.File, "sizes.file", DefaultFileSize),
		Pack:   l.size(raw.Pack, "sizes.pack", DefaultPackSize),
		Object: l.size(raw.Object, "sizes.object", DefaultObjectSize),
	}
}

// maxBytes is the largest size that may be allowed.
const maxBytes = 16 << 30

func (l *serverLoader) size(raw at[string], key string, otherwise int64) int64 {
	if !raw.ok() {
		return otherwise
	}
	size, ok := parseSize(raw.Value)
	if !ok {
		l.failf(raw.Position, "write a number and KiB, MiB or GiB, at most 16GiB", "%s is not a size", key)
	}
	return size
}

// parseSize reads a whole number of KiB, MiB or GiB.
func parseSize(s string) (int64, bool) {
	for unit, bytes := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		digits, found := strings.CutSuffix(s, unit)
		if !found {
			continue
		}
		number, err := strconv.ParseInt(digits, 10, 32)
		if err != nil || number < 1 || number > maxBytes/bytes {
			return 0, false
		}
		return number * bytes, true
	}
	return 0, false
}
