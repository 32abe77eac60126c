package rendered

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/budget"
	"promoter/internal/fault"
	"promoter/internal/lru"
)

// Options are those of a Pool.
type Options struct {
	Program  string           // file of this program
	Children int              // how many run at once; 0: the container has too little memory
	Memory   int64            // of each child, in bytes
	Now      func() time.Time // the clock
}

// Pool renders in child processes of this program, for all repositories. It is safe for concurrent use.
type Pool struct {
	options    Options
	slots      *slots
	collecting chan struct{}                    // one entry for each caller that has collected files in memory
	identified *lru.Cache[string, identified]   // by Change.Commits
	results    *lru.Cache[string, []Difference] // by the digest of the request
}

// identified is what two commits have to render.
type identified struct {
	digest  string       // of the request; empty: nothing is rendered
	refused []Difference // roots that must not be rendered
}

// The memory of kept values, in bytes. Most results have some lines, and none more than 200 KiB.
const (
	maxResults    = 12 << 20
	maxIdentified = 2 << 20
)

// resultOverhead is what a kept value needs besides its differences, and a root without them, in bytes.
const resultOverhead = 1 << 10

// NewPool returns a pool that has rendered nothing.
func NewPool(options Options) *Pool {
	return &Pool{
		options:    options,
		slots:      newSlots(options.Children, options.Now),
		collecting: make(chan struct{}, max(1, options.Children)),
		identified: lru.New[string, identified](maxIdentified),
		results:    lru.New[string, []Difference](maxResults),
	}
}

// Failures remembers requests that could not be rendered, of one repository.
type Failures interface {
	// Load returns the failure of the request with a digest.
	Load(digest string) (Failure, bool)
	// Store remembers a failure. An error is only a reason to render the request again.
	Store(digest string, failure Failure) error
}

// Failure is why a request was not rendered.
type Failure struct {
	Problem string    `json:"problem"`
	Until   time.Time `json:"until,omitzero"` // when it is rendered again
}

// When a request that failed is rendered again. Without a limit that it exceeds, the reason may be another one than the
// files. What exceeds a limit may fit on another machine, or with the next version of promoter.
const (
	retryAfter      = time.Hour
	retryLimitAfter = 24 * time.Hour
)

// Change is what to render: the files of two commits of a repository.
type Change struct {
	Owner         string // of the repository, who shares the children with other owners
	Commits       string // identifies the files of both trees
	Before, After Tree
	Changed       []string // paths of files that differ
	Failures      Failures // nil: none is remembered
}

// Differences returns what changes in the manifests from one commit to the next, by root and
// sorted by folder. A root that cannot be rendered has the reason. The error is about all of
// it, and a Temporary fault if it may go away.
//
// What was rendered before is not rendered again, whether it succeeded or not. The budget of the context is
// charged with the time of a processor; when it is used up, nothing is rendered.
func (p *Pool) Differences(ctx context.Context, c Change) ([]Difference, error) {
	known, err := p.identify(ctx, c)
	if err != nil {
		return nil, err
	}
	found := slices.Clone(known.refused)
	if known.digest != "" {
		rendered, err := p.rendered(ctx, c, known.digest)
		if err != nil {
			return nil, err
		}
		found = append(found, rendered...)
	}
	slices.SortFunc(found, func(a, b Difference) int { return strings.Compare(a.Name(), b.Name()) })
	return found, nil
}

// identify returns what to render. The files do not stay in memory: others may render first.
func (p *Pool) identify(ctx context.Context, c Change) (identified, error) {
	if known, kept := p.identified.Get(c.Commits); kept {
		return known, nil
	}
	select {
	case p.collecting <- struct{}{}:
		defer func() { <-p.collecting }()
	case <-ctx.Done():
		return identified{}, ctx.Err()
	}
	wanted, refused, err := p.collect(c)
	if err != nil {
		return identified{}, err
	}
	found := identified{refused: refused}
	if len(wanted.Roots) > 0 {
		found.digest = digestOf(wanted)
	}
	p.identified.Put(c.Commits, found, int64(resultOverhead*(1+len(refused))))
	return found, nil
}

func (p *Pool) collect(c Change) (request, []Difference, error) {
	wanted, refused, err := collect(c.Before, c.After, c.Changed)
	if err != nil {
		return request{}, nil, fmt.Errorf("collect the files to render: %w", err)
	}
	wanted.Memory = p.options.Memory
	return wanted, refused, nil
}

// rendered returns the result of a request, which may be known.
func (p *Pool) rendered(ctx context.Context, c Change, digest string) ([]Difference, error) {
	if p.options.Children == 0 {
		return nil, fault.New(fault.Invalid, "rendering needs more memory than the limit of the container leaves")
	}
	if known, kept := p.results.Get(digest); kept {
		return known, nil
	}
	if c.Failures != nil {
		if known, kept := c.Failures.Load(digest); kept && p.options.Now().Before(known.Until) {
			return nil, fault.New(fault.Invalid, "%s", known.Problem)
		}
	}
	found, err := p.run(ctx, c)
	if err != nil {
		return nil, p.remember(ctx, c.Failures, digest, err)
	}
	size := int64(resultOverhead)
	for _, one := range found {
		size += int64(resultOverhead + len(one.Diff))
	}
	p.results.Put(digest, found, size)
	return found, nil
}

// run runs a child when there is room for it, and charges its time.
func (p *Pool) run(ctx context.Context, c Change) (found []Difference, err error) {
	if err := budget.Exhausted(ctx, budget.Rendering); err != nil {
		return nil, fault.New(fault.Temporary, "%w; the next reconciliation continues", err)
	}
	endWait := budget.Wait(ctx)
	release, err := p.slots.acquire(ctx, c.Owner)
	endWait()
	if err != nil {
		return nil, err
	}
	var used time.Duration
	defer func() { release(used) }()
	wanted, _, err := p.collect(c)
	if err != nil {
		return nil, err
	}
	found, used, err = render(ctx, p.options.Program, wanted)
	// What was rendered counts. The next child does not start if this one was over the budget.
	_ = budget.Spend(ctx, budget.Rendering, wanted.Roots[0].Name(), max(1, used.Milliseconds()))
	return found, err
}

// remember remembers why a request failed, and returns the error.
func (p *Pool) remember(ctx context.Context, failures Failures, digest string, err error) error {
	if failures == nil || ctx.Err() != nil || fault.KindOf(err) != fault.Invalid {
		return err
	}
	again := retryAfter
	if errors.Is(err, errLimit) {
		again = retryLimitAfter
	}
	failure := Failure{Problem: err.Error(), Until: p.options.Now().Add(again)}
	_ = failures.Store(digest, failure) // then it is rendered again
	return err
}

// digestOf identifies a request: the files, the roots, and the limits.
func digestOf(r request) string {
	sum := sha256.New()
	to := bufio.NewWriter(sum)
	_, _ = fmt.Fprintln(to, maxTime, maxManifests, maxDiff)
	_ = r.writeTo(to) // hashes do not fail
	_ = to.Flush()
	return hex.EncodeToString(sum.Sum(nil))
}
