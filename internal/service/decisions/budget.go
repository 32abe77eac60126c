package decisions

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"promoter/internal/fault"
)

// Each principal may decide some times at once, and then once per interval. Each decision opens
// a repository, and writes a commit.
const (
	decisionBurst    = 30
	decisionInterval = 2 * time.Second
	// maxPrincipals limits the memory. Principals are authenticated, so that there are few.
	maxPrincipals = 10_000
)

// budget limits the decisions of each principal.
type budget struct {
	now func() time.Time

	mutex      sync.Mutex
	principals map[string]*rate.Limiter
}

func newBudget(now func() time.Time) *budget {
	return &budget{now: now, principals: map[string]*rate.Limiter{}}
}

var errBudget = errors.New("you decide more often than the service accepts")

// spend takes one decision of a principal.
func (b *budget) spend(principal string) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	limiter := b.principals[principal]
	if limiter == nil {
		if len(b.principals) >= maxPrincipals {
			clear(b.principals)
		}
		limiter = rate.NewLimiter(rate.Every(decisionInterval), decisionBurst)
		b.principals[principal] = limiter
	}
	if now := b.now(); !limiter.AllowN(now, 1) {
		return fault.Limited(now.Add(decisionInterval), errBudget)
	}
	return nil
}
