package input

import (
	"slices"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/image"
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
	if hasAll(in, own.For) {
		return nil, own
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

// RequestFor returns the request that applies to moves: one for exactly these versions; of those that
// name no versions, one that is not bound to a snapshot yet, or that is bound to the one that they lead to.
func RequestFor(in Target, moves []promotion.Move) *state.Request {
	r := in.Request
	switch {
	case r == nil:
		return nil
	case len(r.For) > 0:
		if !leadsTo(in, moves, r.For) {
			return nil
		}
	case r.Snapshot != "" && len(r.With) == 0 && r.Snapshot != in.Snapshot(moves).ID():
		return nil
	}
	return r
}

// IsUrgent reports whether a request does not wait for the group and the limit of pull requests: a
// user named versions, or bypasses something. What a pipeline posts is no emergency.
func IsUrgent(r *state.Request) bool {
	return r != nil && r.Posted == "" && len(r.With)+len(r.Bypass) > 0
}

// RequestsSnapshot reports whether a user requested one particular snapshot of the sources.
func RequestsSnapshot(in Target) bool {
	r := in.Request
	return in.Settings.Propose == setting.ProposeManual && r != nil && len(r.With) == 0 && (r.Snapshot != "" || len(r.For) > 0)
}

// IsRequested reports whether the moves lead to the requested snapshot, or none in
// particular is requested.
func IsRequested(in Target, moves []promotion.Move) bool {
	return !RequestsSnapshot(in) || RequestFor(in, moves) != nil
}

// Requested returns the version of a component that a request is for, as it was recorded: its tag or its
// digest may be unknown. It returns false if the request has none that can be read.
func Requested(in Target, component string) (image.Version, bool) {
	if in.Request == nil {
		return image.Version{}, false
	}
	return requestedIn(in, in.Request.For, component)
}

func requestedIn(in Target, images map[string]string, component string) (image.Version, bool) {
	parsed, err := image.Parse(images[component])
	if err != nil {
		return image.Version{}, false
	}
	return in.obs.Facts.Describe(parsed.Repository, parsed.Version()), true
}

// leadsTo reports whether the target has exactly the images after the moves, and whether these bring no
// other versions.
func leadsTo(in Target, moves []promotion.Move, images map[string]string) bool {
	for _, move := range promotion.VersionMoves(moves) {
		if _, named := images[move.Component]; !named {
			return false
		}
	}
	for component := range images {
		wanted, known := requestedIn(in, images, component)
		ref, found := in.RefOf(component)
		if !known || !found {
			return false
		}
		after := ref.Recorded
		if move, moved := promotion.MoveOf(moves, component); moved {
			after = move.To
		} else if ref.Differs(wanted, false) {
			return false
		}
		if !promotion.SameRollout(after, wanted) {
			return false
		}
	}
	return true
}

// hasAll reports whether nothing is left of what a request is for: the files have all of it.
func hasAll(in Target, images map[string]string) bool {
	for component := range images {
		wanted, known := requestedIn(in, images, component)
		ref, found := in.RefOf(component)
		if !known || !found {
			return false
		}
		if _, moves := MoveTo(in, ref, wanted); moves {
			return false
		}
	}
	return len(images) > 0
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
	r := RequestFor(in, moves)
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
