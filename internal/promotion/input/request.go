package input

import (
	"slices"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// requestOf returns the request that applies to the target, or the one that is
// done. A request for all applications of an environment applies to each, but
// versions are requested for one target only. A request whose snapshot landed is
// done even if the state still has it: otherwise it would bring its versions back
// when the next snapshot lands.
func requestOf(in Target) (request, fulfilled *state.Request) {
	own := in.Record().Request
	if own == nil {
		all := in.State().At(state.Target{Environment: in.Target.Environment, Application: state.All}).Request
		if all != nil && len(all.With) == 0 {
			return all, nil
		}
		return nil, nil
	}
	if own.Snapshot != "" {
		for l := range (History{in.obs, in.Target}).Landings(in.Target) {
			if l.Snapshot.ID() == own.Snapshot {
				return nil, own
			}
		}
	}
	return own, nil
}

// RequestFor returns the request that applies to a snapshot: one that names its
// versions, one that is not bound to a snapshot yet, or one bound to this one.
func RequestFor(in Target, snapshot promotion.Snapshot) *state.Request {
	r := in.Request
	if r == nil || r.Snapshot != "" && len(r.With) == 0 && r.Snapshot != snapshot.ID() {
		return nil
	}
	return r
}

// IsUrgent reports whether a request does not wait for the group and the limit of pull requests: a
// user named versions, or bypasses something. What a pipeline posts is no emergency.
func IsUrgent(r *state.Request) bool {
	return r != nil && r.Posted == "" && len(r.With)+len(r.Bypass) > 0
}

// RequestsSnapshot reports whether a user requested one particular snapshot.
func RequestsSnapshot(in Target) bool {
	return in.Settings.Propose == setting.ProposeManual && in.Request != nil && in.Request.Snapshot != ""
}

// IsRequested reports whether the moves lead to the requested snapshot, or none in
// particular is requested.
func IsRequested(in Target, moves []promotion.Move) bool {
	return !RequestsSnapshot(in) || in.Request.Snapshot == in.Snapshot(moves).ID()
}

// WasPosted reports whether a pipeline posted a version for any environment of the
// application: a version that it posted upstream is promoted from there although no policy
// admits it.
func WasPosted(in Target, move promotion.Move) bool {
	users := in.State()
	return slices.ContainsFunc(in.Config.Environments, func(e config.Environment) bool {
		at := state.Target{Environment: e.Name, Application: in.Target.Application}
		return users.WasPosted(at, move.Component, move.To.Digest)
	})
}

// Bypass passes a condition that blocks the moves if their request or rollback bypasses it, with
// the permission. Without it, the condition has the reason. In a checkout, nothing shows who has
// which permission.
func Bypass(in Target, c *promotion.Condition, key string, moves []promotion.Move) {
	if in.Request == nil && in.Returns == nil || c.State == promotion.Passed || len(moves) == 0 || in.Checkout {
		return
	}
	r := RequestFor(in, in.Snapshot(moves))
	if in.Returns != nil {
		returning := in.Returns.Bypassing()
		r = &returning
	}
	if r == nil || !slices.Contains(r.Bypass, key) {
		return
	}
	in.For(rows[ofRequest])
	refused := "it was not checked"
	for _, permitted := range in.obs.Bypasses[in.Target] {
		if permitted.Request.Same(*r) {
			refused = permitted.Refused[key]
		}
	}
	if refused != "" {
		c.Reason = promotion.Appended(c.Reason, "not bypassed by "+promotion.Actor(r.Act)+": "+refused)
		return
	}
	c.State = promotion.Passed
	c.Until = nil
	c.Bypassed = true
	c.Reason = promotion.Appended("bypassed by "+promotion.Actor(r.Act)+promotion.Because(r.Act), c.Reason)
}

// namedByUser reports whether a user requested the versions of all moves.
func namedByUser(in Target, moves []promotion.Move) bool {
	requested := in.obs.Explicit[in.Target]
	return len(requested) > 0 && !slices.ContainsFunc(moves, func(m promotion.Move) bool {
		return !promotion.SameRollout(requested[m.Component].Version, m.To)
	})
}
