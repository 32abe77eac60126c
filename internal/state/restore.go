package state

import (
	"bytes"
	"slices"
	"time"
)

// Restore returns the changes that bring back what a state branch lost because it was
// deleted or moved back, rather than by a commit: holds and freezes that are in effect,
// rejections, rollbacks, our own closings, and which comments were processed. A lost
// request is not restored, because it would loosen something: its user can repeat it.
func Restore(lost, now State, at time.Time) []Change {
	var changes []Change
	for _, target := range lost.Targets() {
		old := lost.At(target)
		change := func(s State) State { return s.With(target, func(r *Record) { r.restore(old, at) }) }
		if !bytes.Equal(marshal(change(now).At(target)), marshal(now.At(target))) {
			changes = append(changes, change)
		}
	}
	return changes
}

// restore adds what an older record had.
func (r *Record) restore(old Record, now time.Time) {
	if r.empty() { // the file is gone: observed times are lost too
		r.Seen, r.UnsealedSeen = old.Seen, old.UnsealedSeen
		r.Versions, r.UnsealedVersions = old.Versions, old.UnsealedVersions
		r.Observed = old.Observed
		r.Posted = old.Posted
		r.Resumed, r.Forgotten = old.Resumed, old.Forgotten
		r.Unrejections = old.Unrejections
		r.Reopened = old.Reopened
	}
	if r.Hold == nil {
		r.Hold = old.Hold
	}
	if r.Freeze == nil && old.Freeze != nil && (old.Freeze.Until == nil || old.Freeze.Until.After(now)) {
		r.Freeze = old.Freeze
	}
	if r.Rollback == nil && r.Request == nil {
		r.Rollback = old.Rollback
	}
	r.Rejections = union(r.Rejections, old.Rejections, func(a, b Rejection) bool {
		return a.Number == b.Number && a.Form == b.Form && a.At.Equal(b.At) && a.By == b.By
	})
	r.Closings = union(r.Closings, old.Closings, func(a, b Closing) bool { return a.Number == b.Number })
	r.Settled = union(r.Settled, old.Settled, func(a, b Settled) bool { return a.Number == b.Number && a.At.Equal(b.At) })
	r.ProcessedComments = union(r.ProcessedComments, old.ProcessedComments, func(a, b ProcessedComment) bool { return a.ID == b.ID })
	if old.CommentsFrom != nil && (r.CommentsFrom == nil || r.CommentsFrom.Before(*old.CommentsFrom)) {
		r.CommentsFrom = old.CommentsFrom
	}
}

// union returns the older entries that are missing, followed by the current ones: the
// limits of a record drop the first ones.
func union[T any](current, old []T, same func(a, b T) bool) []T {
	missing := slices.DeleteFunc(slices.Clone(old), func(one T) bool {
		return slices.ContainsFunc(current, func(known T) bool { return same(known, one) })
	})
	return append(missing, current...)
}
