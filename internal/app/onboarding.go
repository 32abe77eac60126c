package app

import (
	"sync"

	"promoter/internal/connect"
	"promoter/internal/identity"
)

// OnboardingState is the closed set of what can come of offering a config file to a
// repository that has none.
type OnboardingState string

// The states of an onboarding.
const (
	OnboardingOpened    OnboardingState = "opened"        // the pull request, now
	OnboardingRefreshed OnboardingState = "refreshed"     // its branch
	OnboardingOpen      OnboardingState = "open"          // it stands, and says what it should
	OnboardingLeft      OnboardingState = "left alone"    // a person has it in hand
	OnboardingDeclined  OnboardingState = "declined"      // closed or merged before: never again
	OnboardingNothing   OnboardingState = "nothing found" // that could be followed
	OnboardingWaiting   OnboardingState = "waiting"       // enough were opened in this pass
	OnboardingToOpen    OnboardingState = "to be opened"  // in a dry run
	OnboardingToRefresh OnboardingState = "to be refreshed"
)

// Onboarding is what came of offering a config file.
type Onboarding struct {
	State  OnboardingState
	Reason string // in words; may be empty
	Number int    // of the pull request
	URL    string // of it
	Commit string // that was pushed
	Config string // that is offered, where it was made now

	remembered bool // of an earlier pass
}

// stands says whether a pull request is open now.
func (o Onboarding) stands() bool {
	switch o.State {
	case OnboardingOpened, OnboardingRefreshed, OnboardingOpen, OnboardingToRefresh:
		return true
	}
	return false
}

// waits says whether the repository waits for people, or for the next pass.
func (o *Onboarding) waits() bool {
	return o != nil && (o.stands() || o.State == OnboardingToOpen || o.State == OnboardingWaiting || o.State == OnboardingLeft)
}

// told says whether people want to hear of an outcome: nothing is to be said about
// repositories that are no GitOps repositories, or did not want to be one.
func (o *Onboarding) told() bool { return o.waits() && o.State != OnboardingWaiting }

// Bounds of one pass: an App that is installed on two hundred repositories must not
// open two hundred pull requests, nor fetch all of them at once.
const (
	maxOnboarded = 5   // that are opened
	maxExamined  = 100 // that are looked at, where it is remembered what came of it
)

// onboarding offers a config file to the repositories that the server's file names,
// in one round of work.
type onboarding struct {
	globs       []string
	maxFileSize int64 // bytes over which a file is not parsed
	memory      *onboarded

	mutex      sync.Mutex
	left       int // how many pull requests may be opened yet
	waiting    int // how many found no room
	candidates []candidate
}

// candidate is a repository without a config file, as it was listed.
type candidate struct {
	repository *connect.Repository
	key        identity.RepositoryKey
	mark       string // changes when the answer could
}

// newOnboarding keeps the repositories without a config file of a session for later,
// unless it is known what would come of them. It is nil if onboarding is off.
func newOnboarding(session *connect.Session) *onboarding {
	globs := session.Server.File.Onboarding.Repositories
	if len(globs) == 0 {
		return nil
	}
	o := &onboarding{globs: globs, maxFileSize: session.Server.File.Sizes.File, memory: readOnboarded(session.CacheFolder("onboarding"), session.Server.Now), left: maxOnboarded}
	for _, found := range session.Unconfigured {
		if !found.Repository.Matches(globs) || o.memory.has(found.Key, found.Version) != nil {
			continue
		}
		c := candidate{repository: found.Repository, key: found.Key}
		if found.Settled {
			c.mark = found.Version
		}
		o.candidates = append(o.candidates, c)
	}
	return o
}

// has says whether repositories wait to be looked at.
func (o *onboarding) has() bool {
	if o == nil {
		return false
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return len(o.candidates) > 0
}

// take says whether one more pull request may be opened.
func (o *onboarding) take() bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.left == 0 {
		o.waiting++
		return false
	}
	o.left--
	return true
}

// full says whether a new repository need not be looked at in this pass.
func (o *onboarding) full() bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.left == 0
}

// wait counts repositories that are left to the next pass.
func (o *onboarding) wait(n int) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.waiting += n
}
