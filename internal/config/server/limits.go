package serverconfig

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/strictyaml"
)

// RateLimit is the maximum request rate of hosts. Zero means the default.
type RateLimit struct {
	config.Position
	Host       string // pattern
	PerSecond  int
	Burst      int
	Concurrent int
}

// Sizes are the maximum sizes to read, in bytes.
type Sizes struct {
	File, Pack, Object int64
	Mirror, Mirrors    int64 // on disk: of one repository, and of all
}

// Retention is how long the database keeps data.
type Retention struct {
	Deliveries     time.Duration
	DeliveriesSize int64         // in bytes
	History        time.Duration // 0: forever
}

// Defaults of sizes and retention.
const (
	DefaultFileSize       = 1 << 20
	DefaultPackSize       = 512 << 20
	DefaultObjectSize     = 32 << 20
	DefaultMirrorSize     = 2 << 30
	DefaultMirrorsSize    = 5 << 30
	DefaultDeliveries     = 30 * 24 * time.Hour
	DefaultDeliveriesSize = 1 << 30
)

// rawRateLimit is the maximum request rate to hosts.
type rawRateLimit struct {
	strictyaml.Origin
	// Host, or a glob with `*`.
	Host strictyaml.Located[string] `yaml:"host" required:"true"`
	// Sustained requests per second, as long as the host refuses none. Without it, the rate for a registry adapts,
	// and hosts in `networks` and loopback have no such limit: see docs/registries.md#request-rate. Default: `50`.
	PerSecond strictyaml.Located[int] `yaml:"perSecond"`
	// Requests at once after a quiet time. Default: `100`.
	Burst strictyaml.Located[int] `yaml:"burst"`
	// Concurrent requests. Default: `8`.
	Concurrent strictyaml.Located[int] `yaml:"concurrent"`
}

// rawSizes is the maximum sizes, such as 1MiB.
type rawSizes struct {
	strictyaml.Origin
	// Largest file that is searched for references, such as 1MiB. Default: `1MiB`.
	File strictyaml.Located[string] `yaml:"file"`
	// Largest download of one fetch, such as 512MiB. Default: `512MiB`.
	Pack strictyaml.Located[string] `yaml:"pack"`
	// Largest Git object, such as 32MiB. Default: `32MiB`.
	Object strictyaml.Located[string] `yaml:"object"`
	// Largest mirror of a repository on disk, such as 512MiB. See docs/operate/sizing.md#disk. Default: `2GiB`.
	Mirror strictyaml.Located[string] `yaml:"mirror"`
	// Largest size of all mirrors together, such as 512MiB. Those that were not used for the longest time are emptied. Default: `5GiB`.
	Mirrors strictyaml.Located[string] `yaml:"mirrors"`
}

// rawReconciliation limits one reconciliation.
type rawReconciliation struct {
	strictyaml.Origin
	// How long one reconciliation may take, a minute or more. Waiting for a rate limit does not count. The next one
	// continues. Default: `5m`.
	Timeout strictyaml.Located[time.Duration] `yaml:"timeout"`
	// Between polls, decide again only about the applications that an event touches. See
	// docs/service.md#incremental-reconciliations. Default: `true`.
	Incremental strictyaml.Located[bool] `yaml:"incremental"`
}

// rawRetention is how long the database keeps data.
type rawRetention struct {
	strictyaml.Origin
	// How long webhooks are kept, an hour or more. See docs/service.md#retention. Default: `30d`.
	Deliveries strictyaml.Located[time.Duration] `yaml:"deliveries"`
	// Maximum size of the stored webhooks, such as 512MiB. The oldest are deleted first. Default: `1GiB`.
	DeliveriesSize strictyaml.Located[string] `yaml:"deliveriesSize"`
	// How long the history is kept, an hour or more. Default: forever.
	History strictyaml.Located[time.Duration] `yaml:"history"`
}

const (
	maxRate      = 10_000   // more than any host allows
	maxSize      = 16 << 30 // bytes
	maxMirrors   = 16 << 40 // bytes
	minTimeout   = time.Minute
	minRetention = time.Hour // what is kept for less could be deleted before it is used
)

func loadRateLimits(in *input) []RateLimit {
	var limits []RateLimit
	for _, raw := range in.raw.RateLimits {
		if raw.Invalid {
			continue
		}
		if !raw.Host.IsSet() || raw.Host.Valid() && (raw.Host.Value == "" || strings.ContainsAny(raw.Host.Value, " /?[]{}\\@")) {
			in.report.Errorf(strictyaml.FirstSet(raw.Host.Origin, raw.Origin), "write host: HOST, or a pattern with *",
				"a rate limit has no host")
		}
		if !raw.PerSecond.IsSet() && !raw.Burst.IsSet() && !raw.Concurrent.IsSet() {
			in.report.Errorf(raw.Position, "add perSecond, burst or concurrent", "a rate limit has no effect")
		}
		for _, number := range []struct {
			key string
			strictyaml.Located[int]
		}{{"perSecond", raw.PerSecond}, {"burst", raw.Burst}, {"concurrent", raw.Concurrent}} {
			in.report.ErrorIf(number.Valid() && (number.Value < 1 || number.Value > maxRate), number.Position,
				"remove it for the default", "%s must be 1 to %d", number.key, maxRate)
		}
		limits = append(limits, RateLimit{
			Position: raw.Position, Host: raw.Host.Value,
			PerSecond: raw.PerSecond.Value, Burst: raw.Burst.Value, Concurrent: raw.Concurrent.Value,
		})
	}
	return limits
}

func loadSizes(in *input) Sizes {
	raw := in.raw.Sizes
	if raw == nil {
		raw = &rawSizes{}
	}
	sizes := Sizes{
		File:    loadSize(in.report, raw.File, "sizes.file", DefaultFileSize, maxSize),
		Pack:    loadSize(in.report, raw.Pack, "sizes.pack", DefaultPackSize, maxSize),
		Object:  loadSize(in.report, raw.Object, "sizes.object", DefaultObjectSize, maxSize),
		Mirror:  loadSize(in.report, raw.Mirror, "sizes.mirror", DefaultMirrorSize, maxMirrors),
		Mirrors: loadSize(in.report, raw.Mirrors, "sizes.mirrors", DefaultMirrorsSize, maxMirrors),
	}
	if sizes.Mirror > sizes.Mirrors && sizes.Mirrors > 0 {
		in.report.Errorf(strictyaml.FirstSet(raw.Mirrors.Origin, raw.Mirror.Origin),
			"one mirror must fit: increase sizes.mirrors, or decrease sizes.mirror", "sizes.mirrors is less than sizes.mirror")
	}
	return sizes
}

// loadSize parses a whole number of KiB, MiB or GiB.
func loadSize(report *strictyaml.Report, raw strictyaml.Located[string], key string, fallback, most int64) int64 {
	if !raw.Valid() {
		return fallback
	}
	for unit, bytes := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if digits, found := strings.CutSuffix(raw.Value, unit); found {
			if number, err := strconv.ParseInt(digits, 10, 32); err == nil && number >= 1 && number <= most/bytes {
				return number * bytes
			}
		}
	}
	report.Errorf(raw.Position, fmt.Sprintf("write a number and KiB, MiB or GiB, at most %dGiB", most>>30), "%s is not a size", key)
	return 0
}

func loadTimeout(in *input) time.Duration {
	raw := in.raw.Reconciliation
	if raw == nil || !raw.Timeout.Valid() {
		return DefaultTimeout
	}
	in.report.ErrorIf(raw.Timeout.Value < minTimeout, raw.Timeout.Position, "write at least 1m, as in 5m",
		"reconciliation.timeout is too short")
	return raw.Timeout.Value
}

func loadIncremental(in *input) bool {
	raw := in.raw.Reconciliation
	if raw == nil {
		raw = &rawReconciliation{}
	}
	return raw.Incremental.Or(true)
}

func loadRetention(in *input) Retention {
	raw := in.raw.Retention
	if raw == nil {
		raw = &rawRetention{}
	}
	for _, duration := range []struct {
		key string
		strictyaml.Located[time.Duration]
	}{{"deliveries", raw.Deliveries}, {"history", raw.History}} {
		in.report.ErrorIf(duration.Valid() && duration.Value < minRetention, duration.Position,
			"write at least 1h, as in 30d", "retention.%s is too short", duration.key)
	}
	return Retention{
		Deliveries:     raw.Deliveries.Or(DefaultDeliveries),
		DeliveriesSize: loadSize(in.report, raw.DeliveriesSize, "retention.deliveriesSize", DefaultDeliveriesSize, maxSize),
		History:        raw.History.Or(0),
	}
}
