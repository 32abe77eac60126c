package promotion

import (
	"time"

	"promoter/internal/image"
)

// Landing is a snapshot that stands, or stood, in a place. It is read from the
// trailers of a commit on the environment's branch; for what a person wrote by
// hand only the files tell.
type Landing struct {
	Commit   string // hex; on the branch
	Number   int    // of the pull request that brought it; 0: none known
	Snapshot Snapshot
	// At is the earliest time at which it provably stood there: the forge's time
	// of the merge, or when promoter first saw it. Zero: not known yet.
	At time.Time
	// Until is when another snapshot took its place; zero: it stands there now.
	Until time.Time
	// Checks are the statuses of the commit, where a child asks for them.
	Checks []Check
	// TakenBack says that a person reverted it, or edited it away.
	TakenBack bool
}

// Check is what one status or check run said about a commit.
type Check struct {
	Name  string
	State ConditionState
	At    time.Time
}

// Reversion is a version that stood in a place before, and does not now. It is not
// proposed there again by itself.
type Reversion struct {
	Component string
	Version   image.Version
	Commit    string // that brought it
}

// Approval is one approval of a pull request that may count for the config.
type Approval struct {
	By    string // login
	Teams []string
	At    time.Time
}

// Open is a pull request of ours as it stands, or the pull request of a person
// that keeps our branch busy.
type Open struct {
	Number    int
	URL       string
	Head      string              // branch
	Commit    string              // of the head, hex
	Snapshots map[string]Snapshot // by application, from the trailers of the head commit
	Foreign   string              // why it is not to be touched, such as a person's commit; empty: it is ours
	Opened    time.Time
	Draft     bool
	Checks    []Check // on the head, our own left out
	Blind     bool    // the credential may not read all checks
	// Approvals holds those that count: given for the present head by people who
	// may, each once.
	Approvals []Approval
	// Votes are the approvals as a forge counts them, and Void those that count
	// nowhere, with the reason.
	Votes []Vote
	Void  []Void
	// Objections are people who asked for changes on the present head.
	Objections []string
	// Changed is when something was last pushed to the head or said on it.
	Changed time.Time
	// Refused says that the forge refused to merge this head, and nothing was said
	// on it since; nil: it did not.
	Refused *Refusal
}

// Vote is an approval of a person who may write and did not open the pull request.
type Vote struct {
	By      string // login
	Current bool   // it was given for the present head
}

// Void is an approval that does not count for the config.
type Void struct {
	By, Why string
	Own     bool // of promoter's own account: it counts for no forge either
}
