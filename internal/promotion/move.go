package promotion

import (
	"slices"
	"strings"

	"promoter/internal/image"
)

// Move is one component that changes its version.
type Move struct {
	Component string
	From      image.Version // in the files; the zero version if they disagree
	To        image.Version
	Form      Form // of a move to the version that is there; empty: it is another version
}

// String describes the move as "web 1.4 -> 1.5"; two digests of one tag are
// shown as digests.
func (m Move) String() string {
	from, to := Label(m.From), Label(m.To)
	switch m.Form {
	case FormRelabeled:
		return m.Component + " " + from + " -> " + to + " (same digest)"
	case FormPinned:
		return "pin " + m.Component + " " + to + " to its digest"
	case FormUnpinned:
		return "write " + m.Component + " " + to + " without its digest"
	case FormTagged:
		return "write " + m.Component + " " + to + " with its tag"
	case FormUntagged:
		return "write " + m.Component + " " + to + " without its tag"
	case FormDerived:
		return "write " + m.Component + " " + to + " where files name it in another form"
	}
	if from == to {
		from, to = ShortDigest(m.From.Digest), ShortDigest(m.To.Digest)
	}
	if from == "" {
		return m.Component + " -> " + to
	}
	return m.Component + " " + from + " -> " + to
}

// MoveOf returns the move of a component.
func MoveOf(moves []Move, component string) (Move, bool) {
	i := slices.IndexFunc(moves, func(m Move) bool { return m.Component == component })
	if i < 0 {
		return Move{}, false
	}
	return moves[i], true
}

// SameMoves reports whether two lists of moves lead to the same versions in the same form.
func SameMoves(a, b []Move) bool {
	return slices.EqualFunc(a, b, func(a, b Move) bool {
		return a.Component == b.Component && a.Form == b.Form && SameRollout(a.To, b.To)
	})
}

// Form is what a move changes that leads to the version that is there: only how the files
// write it. It is the same rollout, so it counts as the same version for all conditions.
type Form string

// The forms. Of several, the first one that applies is used.
const (
	FormRelabeled Form = "relabeled" // another tag of the same digest
	FormPinned    Form = "pinned"    // the digest is added
	FormUnpinned  Form = "unpinned"  // the digest is removed
	FormTagged    Form = "tagged"    // the tag is added
	FormUntagged  Form = "untagged"  // the tag is removed
	FormDerived   Form = "derived"   // what files have besides, and is made of the version
)

// OnlyForm reports whether no move changes a version.
func OnlyForm(moves []Move) bool { return !slices.ContainsFunc(moves, Move.changesVersion) }

// VersionMoves returns the moves that change a version, which are nearly always all: then it is the
// same slice.
func VersionMoves(moves []Move) []Move {
	changesForm := func(m Move) bool { return !m.changesVersion() }
	if !slices.ContainsFunc(moves, changesForm) {
		return moves
	}
	return slices.DeleteFunc(slices.Clone(moves), changesForm)
}

func (m Move) changesVersion() bool { return m.Form == "" }

// MovesText lists moves as "web 1.4 -> 1.5, worker 2.0 -> 2.1".
func MovesText(moves []Move) string { return list(moves, Move.String) }

// TargetsText lists where moves lead, as "web 1.5, worker 2.1".
func TargetsText(moves ...Move) string {
	return list(moves, func(m Move) string {
		to := Label(m.To)
		if to == Label(m.From) {
			to = ShortDigest(m.To.Digest)
		}
		return m.Component + " " + to
	})
}

func list[T any](all []T, text func(T) string) string {
	parts := make([]string, 0, len(all))
	for _, one := range all {
		parts = append(parts, text(one))
	}
	return strings.Join(parts, ", ")
}

// ChangesOf returns the moves from one snapshot to another, sorted by component. A
// component that the first does not have moves from the zero version.
func ChangesOf(from, to Snapshot) []Move {
	var moves []Move
	for _, component := range to.Components() {
		before, after := from[component].Version, to[component].Version
		if !SameRollout(before, after) {
			moves = append(moves, Move{Component: component, From: before, To: after})
		}
	}
	return moves
}

// Named returns the version that a move leads to as commands read it: COMPONENT:TAG or
// COMPONENT@DIGEST.
func (m Move) Named() string {
	if image.ValidTag(m.To.Tag) {
		return m.Component + ":" + m.To.Tag
	}
	return m.Component + "@" + m.To.Digest
}
