// Package budget limits what one reconciliation may use, so that no repository, and no
// registry that it names, can use up the process that many repositories share.
//
// A reconciliation carries its Budget in its context. Code that does work on behalf of a
// repository charges it before or while it does the work, and stops with the error: what
// was done until then is kept, and the next reconciliation continues from there. Without
// a Budget, as in a checkout of the user, nothing is limited.
package budget

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"promoter/internal/fault"
)

// Resource is something that is limited.
type Resource string

// The resources. Their values complete "more than N …" in errors.
const (
	Parsed    Resource = "bytes of parsed files"             // consumer: the file
	Requests  Resource = "requests to registries"            // consumer: the host
	Received  Resource = "bytes from registries"             // consumer: the host
	Tags      Resource = "bytes of tags"                     // consumer: the image repository
	Matching  Resource = "steps of regular expressions"      // consumer: the image repository
	Paths     Resource = "steps of path patterns"            // consumer: the config file
	Rendering Resource = "milliseconds of rendering"         // consumer: the kustomization or chart
	Elapsed   Resource = "milliseconds of waiting for hosts" // consumer: the host; never limited, for the error about the time
)

// Limit is how much of a resource may be used.
type Limit struct {
	Total int64 // of all consumers; 0: not limited
	Each  int64 // of one consumer; 0: not limited
}

// Limits are the limits of all resources.
type Limits map[Resource]Limit

// Defaults are far above what the largest measured repositories need: 2,000 applications
// in five environments with 20,000 files, or 2,000 components. A second of CPU time parses
// about one MiB of the slowest files, or takes 200 million steps of expressions.
func Defaults() Limits {
	return Limits{
		Parsed:    {Total: 128 << 20},
		Requests:  {Total: 60_000, Each: 30_000},
		Received:  {Total: 512 << 20, Each: 256 << 20},
		Tags:      {Total: 128 << 20, Each: 16 << 20},
		Matching:  {Total: 5_000_000_000},
		Paths:     {Total: 5_000_000_000},
		Rendering: {Total: 60_000},
	}
}

// ErrExceeded is in the chain of every error about an exceeded limit. It is about one
// reconciliation: others that need the same must not get it as a result.
var ErrExceeded = errors.New("the reconciliation is over its budget")

// ErrExhausted is an ErrExceeded about all consumers together. What was refused then depends on the order in which
// they came, so nothing may follow from the rest. The limit of one consumer concerns only that one: it cannot stop
// the others.
var ErrExhausted = fmt.Errorf("%w", ErrExceeded)

// maxConsumers limits the consumers of one resource that are remembered.
const maxConsumers = 4096

// Budget is what a reconciliation may use. It is safe for concurrent use. A nil Budget
// limits nothing.
type Budget struct {
	limits Limits

	mu   sync.Mutex
	used map[Resource]*usage
	time clock
}

type usage struct {
	total int64
	by    map[string]int64
}

// New returns an unused budget.
func New(limits Limits) *Budget { return &Budget{limits: limits, used: map[Resource]*usage{}} }

type contextKey struct{}

// With returns a context that carries a budget.
func With(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, contextKey{}, b)
}

// From returns the budget of a context; nil: there is none.
func From(ctx context.Context) *Budget {
	b, _ := ctx.Value(contextKey{}).(*Budget)
	return b
}

// Spend charges the budget of a context with n units of a resource that a consumer used.
// It returns an Invalid fault when a limit is exceeded, and the error of the context when it has ended: what is charged
// takes long, and must not continue then.
func Spend(ctx context.Context, resource Resource, consumer string, n int64) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s for %s: %w", resource, consumer, context.Cause(ctx))
	}
	return From(ctx).spend(resource, consumer, n)
}

func (b *Budget) spend(resource Resource, consumer string, n int64) error {
	if b == nil || n <= 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.used[resource]
	if of == nil {
		of = &usage{by: map[string]int64{}}
		b.used[resource] = of
	}
	if _, known := of.by[consumer]; !known && len(of.by) >= maxConsumers {
		of.forgetSmall()
	}
	of.total += n
	of.by[consumer] += n
	limit := b.limits[resource]
	switch {
	case limit.Each > 0 && of.by[consumer] > limit.Each:
		return fault.New(fault.Invalid, "%w: more than %d %s for %s", ErrExceeded, limit.Each, resource, consumer)
	case limit.Total > 0 && of.total > limit.Total:
		return fault.New(fault.Invalid, "%w: more than %d %s; most: %s", ErrExhausted, limit.Total, resource, Largest(of.by))
	}
	return nil
}

// Exhausted returns the error of Spend if the budget of a context has been used up, so that work does not begin whose
// use is known only after it.
func Exhausted(ctx context.Context, resource Resource) error {
	b := From(ctx)
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	limit, of := b.limits[resource].Total, b.used[resource]
	if limit == 0 || of == nil || of.total < limit {
		return nil
	}
	return fault.New(fault.Invalid, "%w: more than %d %s; most: %s", ErrExhausted, limit, resource, Largest(of.by))
}

// forgetSmall drops consumers that used less than the average: they are not among the
// largest.
func (u *usage) forgetSmall() {
	average := u.total / int64(len(u.by))
	maps.DeleteFunc(u.by, func(_ string, n int64) bool { return n <= average })
	if len(u.by) >= maxConsumers {
		clear(u.by)
	}
}

// maxNamed is how many consumers an error names.
const maxNamed = 3

// Largest names the largest of some consumers with what they use.
func Largest[N int | int64](used map[string]N) string {
	names := slices.SortedFunc(maps.Keys(used), func(a, b string) int {
		return cmp.Or(cmp.Compare(used[b], used[a]), cmp.Compare(a, b))
	})
	var texts []string
	for _, name := range names[:min(len(names), maxNamed)] {
		texts = append(texts, fmt.Sprintf("%s (%d)", name, used[name]))
	}
	return strings.Join(texts, ", ")
}

// clock measures the time of a reconciliation without its pauses.
type clock struct {
	limit   time.Duration
	left    time.Duration // when it was started or paused last
	pauses  time.Duration // how long it may still be paused
	started time.Time
	waiting int // goroutines that wait for a rate limit
	timer   *time.Timer
}

// timerNow is the clock of the timer, which no caller can inject: it ends a context.
func timerNow() time.Time { return time.Now() } //nolint:forbidigo // see above

// maxPauses limits the pauses, as a multiple of the time: a host that limits requests
// does not stop the clock forever.
const maxPauses = 3

// WithTimeout returns a context that carries the budget and ends after a time, in which
// Wait does not count. The cause of its end is then a Temporary fault. The function
// releases the timer.
func WithTimeout(ctx context.Context, b *Budget, limit time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(With(ctx, b))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.time = clock{limit: limit, left: limit, pauses: maxPauses * limit, started: timerNow()}
	b.time.timer = time.AfterFunc(limit, func() { cancel(b.timedOut()) })
	return ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.time.timer.Stop()
		cancel(context.Canceled)
	}
}

// errTimeout is the cause of a context that ended because of its budget.
var errTimeout = errors.New("the reconciliation is over its budget of time")

func (b *Budget) timedOut() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	slowest := ""
	if of := b.used[Elapsed]; of != nil {
		slowest = fmt.Sprintf("; %s: %s", Elapsed, Largest(of.by))
	}
	return fault.New(fault.Temporary, "%w: it took longer than %s%s; the next one continues", errTimeout, b.time.limit, slowest)
}

// Wait stops the clock of the budget of a context until the returned function is called,
// because the process itself lets a request wait, for instance for a rate limit.
func Wait(ctx context.Context) (end func()) {
	b := From(ctx)
	if b == nil || !b.pause() {
		return func() {}
	}
	return b.resume
}

// pause stops the clock, and reports whether there is one.
func (b *Budget) pause() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &b.time
	if c.timer == nil {
		return false
	}
	if c.waiting++; c.waiting > 1 || c.pauses <= 0 || !c.timer.Stop() {
		return true
	}
	now := timerNow()
	c.left, c.started = c.left-now.Sub(c.started), now
	c.timer.Reset(max(c.left, 0) + c.pauses) // a pause must end too
	return true
}

func (b *Budget) resume() {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &b.time
	if c.waiting--; c.waiting > 0 || c.pauses <= 0 || !c.timer.Stop() {
		return
	}
	now := timerNow()
	c.pauses, c.started = c.pauses-now.Sub(c.started), now
	c.timer.Reset(max(c.left, 0))
}

// Cause returns the error of work that ended with a context: the cause if the budget of
// time ended it, and err otherwise.
func Cause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errTimeout) {
		return cause
	}
	return err
}
