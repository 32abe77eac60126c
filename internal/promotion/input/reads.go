package input

import (
	"strings"
)

// Reads is a set of kinds of what a decision is made from. A decision that is kept is made again
// when something of its kinds may have changed.
type Reads uint32

// The kinds. What a target wants by its config is none of them: another config leads to a full
// reconciliation.
const (
	Files         Reads = 1 << iota // what the files of the target say
	OtherTargets                    // what the files of its sources and children say, or what is decided about them
	Past                            // landings and reverts, from commits
	UserDecisions                   // the state branch, with what promoter recorded there
	Registry                        // versions and facts about them
	Time                            // the time, or an answer that another time changes
	// PullRequest is the open pull request of the target, with its checks and reviews, and the
	// rules of its branch. Where none is open, it reads nothing: callers compare which ones are.
	PullRequest
	Forge  // statuses of landed commits, releases, permissions, and rules for what is proposed
	Health // what is reported about landed snapshots

	// Everything is all kinds.
	Everything = Health<<1 - 1
)

// kindNames are the names of the kinds, in their order.
var kindNames = [...]string{"files", "other targets", "history", "user decisions", "registry", "time", "pull request", "forge", "health"}

// unseen are the kinds of which nothing shows a change, except reading them again.
const unseen = Time | PullRequest | Forge | Health

// undeclared is by how many bits the kinds are shifted that were read without a declaration.
const undeclared = 16

// ChangesUnseen reports whether the decision may be another one although a comparison of
// files, user decisions, history, and images finds no difference.
func (r Reads) ChangesUnseen() bool { return r&unseen != 0 }

// Has reports whether the set has all of the kinds.
func (r Reads) Has(kinds Reads) bool { return r&kinds == kinds }

// Undeclared returns the kinds that a row read without declaring them, which is a defect. The
// set then has all kinds, so that the decision is made again each time.
func (r Reads) Undeclared() Reads { return r >> undeclared }

// String lists the kinds.
func (r Reads) String() string {
	var names []string
	for i, name := range kindNames {
		if r.Has(1 << i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Row is one part of a decision, such as a gate, with what it declares to read.
type Row struct {
	Name  string
	Reads Reads
}

// The rows of this package: what several other rows evaluate.
const (
	ofTarget = iota
	ofSources
	ofRequest
	ofUserDecision
	ofHold
	ofEndOfHold
)

var rows = [...]Row{
	ofTarget:       {"target", Files | Registry | UserDecisions | PullRequest},
	ofSources:      {"sources", OtherTargets | Past},
	ofRequest:      {"request", Forge},
	ofUserDecision: {"user decision", UserDecisions | Past},
	ofHold:         {"hold", UserDecisions},
	ofEndOfHold:    {"end of a freeze", Time},
}

// Rows returns the table of the rows of this package.
func Rows() []Row { return rows[:] }
