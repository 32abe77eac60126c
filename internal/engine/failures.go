package engine

import (
	"context"

	"promoter/internal/fault"
)

// ends says whether an error ends the pass, and returns it then: nobody waits for
// the result any more, the server wants to be left alone, or somebody else was
// faster and a new look may heal it. On the last attempt a race that is lost again
// is the failure of its part alone, so that it keeps nothing else from going on.
func (v *view) ends(ctx context.Context, err error) error {
	switch kind := fault.KindOf(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case kind == fault.RateLimited, kind == fault.Conflict && !v.last:
		return err
	default:
		return nil
	}
}

// aside keeps what could not be looked at to the branch that it is about: nothing
// is done about that in this pass, and all others go on.
func (v *view) aside(ctx context.Context, head string, err error) error {
	if ended := v.ends(ctx, err); ended != nil {
		return ended
	}
	if err != nil && v.unread[head] == nil {
		v.unread[head] = err
	}
	return nil
}

// away keeps an environment of which something could not be learnt out of this
// pass, also as a parent: what was taken back there must not be proposed again.
func (v *view) away(ctx context.Context, environment string, err error) error {
	if ended := v.ends(ctx, err); ended != nil {
		return ended
	}
	if err == nil {
		return nil
	}
	if _, known := v.observed.Unavailable[environment]; !known {
		v.trouble("environment "+environment, err)
	}
	v.observed.Unavailable[environment] = err.Error()
	return nil
}
