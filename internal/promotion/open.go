package promotion

import (
	"time"

	"promoter/internal/scm"
)

// Open is an open pull request of promoter, or one of a user that occupies
// promoter's branch.
type Open struct {
	Number    int
	URL       string
	Head      string              // branch
	Commit    string              // of the head, hex
	Snapshots map[string]Snapshot // by application, from the trailers of the head commit
	Foreign   string              // why promoter must not touch it, such as a commit of a user
	Opened    time.Time
	Pushed    time.Time // when the head was committed; zero: unknown
	Draft     bool
	Checks    []Check // on the head, without promoter's own
	Blind     bool    // the credential cannot read all checks
	// Approvals are those that count: of the current head, by users with permission,
	// each once.
	Approvals []Approval
	// Votes are the approvals as a forge counts them, and Void those that do not
	// count anywhere.
	Votes []Vote
	Void  []Void
	// Objections are the users who requested changes on the current head.
	Objections []string
	// Conflict is set if the forge reports that a pull request which belongs to a user conflicts with its base.
	Conflict bool
	// Changed is when something was last pushed to the head or said on it.
	Changed time.Time
	// Fingerprint is of what was read that may change the forge's answer to a merge: the heads, whether
	// it is a draft, the checks, the reviews, and open conversations if the forge lists them.
	Fingerprint string
	// Refused is set if the forge refused to merge this head, and nothing happened on
	// it since.
	Refused *Refusal
}

// IsYoung reports whether the head was pushed within a duration. A clock may be behind the one that it was committed by.
func (o Open) IsYoung(now time.Time, within time.Duration) bool {
	return !o.Pushed.IsZero() && now.Sub(o.Pushed).Abs() < within
}

// Approval is one approval of a pull request that may count for the config.
type Approval struct {
	By    string // login
	ID    string // of the account; empty: the forge reports none
	Teams []string
	At    time.Time
}

// Vote is an approval of a user with write access who did not open the pull
// request.
type Vote struct {
	By      string // login
	Current bool   // it is for the current head
}

// Void is an approval that does not count for the config.
type Void struct {
	By, Why string
	Own     bool // of promoter's own account: it does not count for the forge either
}

// Protection is what the forge requires before anything lands on a branch.
type Protection struct {
	Branch string // its name, for messages
	scm.Rules
}

// Refusal is the answer of a forge that refused to merge a head. Some of what
// forges require, such as resolved conversations, is only known this way. A
// refused merge is not tried again until something differs or some time passes.
type Refusal struct {
	Rule        string // of scm; empty: see Words
	Words       string
	Fingerprint string    // see Open; of what was read before the attempt. Empty: an older process stored it
	At          time.Time // in whole minutes
	Until       time.Time // when it is tried again
}
