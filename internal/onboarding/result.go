package onboarding

// State is the closed set of results of offering a config file to a repository.
type State string

// The states of an onboarding.
const (
	Opened       State = "opened"        // the pull request, now
	Refreshed    State = "refreshed"     // its branch
	Open         State = "open"          // the pull request is open and current
	LeftAlone    State = "left alone"    // a user works on it
	Declined     State = "declined"      // closed or merged before: never offered again
	NothingFound State = "nothing found" // no references that could be followed
	Waiting      State = "waiting"       // this batch opened its maximum
	ToOpen       State = "to be opened"  // in a dry run
	ToRefresh    State = "to be refreshed"
)

// Result is the result of offering a config file to one repository.
type Result struct {
	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"`
	Number int    `json:"number,omitempty"` // of the pull request
	URL    string `json:"url,omitempty"`    // of the pull request
	Commit string `json:"commit,omitempty"` // that was pushed
	Config string `json:"config,omitempty"` // the suggested config file, if it was generated now
	Known  bool   `json:"-"`                // it is from the cache, so it was reported before
}

// Acted reports whether a pull request was opened, or its branch changed, just now.
func (r *Result) Acted() bool {
	return r != nil && !r.Known && (r.State == Opened || r.State == Refreshed)
}

// isOpen reports whether a pull request is open now.
func (r Result) isOpen() bool {
	switch r.State {
	case Opened, Refreshed, Open, ToRefresh:
		return true
	}
	return false
}

// Pending reports whether the repository waits for a user, or for the next batch. That
// it has no config file is then no failure.
func (r *Result) Pending() bool {
	return r != nil && (r.isOpen() || r.State == ToOpen || r.State == Waiting || r.State == LeftAlone)
}

// Reportable reports whether a run shows the result. Repositories that are no GitOps
// repositories, or that declined, are not shown.
func (r *Result) Reportable() bool { return r.Pending() && r.State != Waiting }
