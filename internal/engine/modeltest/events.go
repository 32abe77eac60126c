package modeltest

import "reflect"

// event is something that may happen, with its weight and the hooks that the world needs
// for it.
type event struct {
	weight int
	do     func()
	hooks  []any
}

func may(weight int, do func(), hooks ...any) event { return event{weight, do, hooks} }

// pick chooses a random event for which the world has the hooks.
func (s *story) pick(among ...event) func() {
	var acts []func()
	for _, h := range among {
		for i := 0; i < h.weight && !missing(h.hooks); i++ {
			acts = append(acts, h.do)
		}
	}
	return acts[s.random.IntN(len(acts))]
}

func missing(hooks []any) bool {
	for _, hook := range hooks {
		if reflect.ValueOf(hook).IsNil() {
			return true
		}
	}
	return false
}

// events returns everything that may happen.
func (s *story) events() []event {
	people, world := s.People, s.World.Bench.World
	return []event{
		may(8, s.release), may(1, s.moveBack), may(1, s.registryDown), may(2, s.wait),
		may(4, s.run), may(3, s.crash), may(2, s.race), may(1, s.clockSkew), may(2, s.failingForge), may(4, s.interleave),
		may(2, s.loseResponse, world.Lose), may(2, s.failRequest, world.Fail), may(1, s.limit, world.Limit),
		may(1, s.revert), may(1, s.moveBase), may(1, s.forgeTrailers), may(1, s.changeConfig), may(1, s.rename, world.Rename),
		may(1, s.holdOrResume), may(1, s.requestPromotion), may(1, s.freeze), may(1, s.rollback), may(1, s.reject),
		may(8, s.merge, people.Merge), may(2, s.close, people.Close), may(2, s.reopen, people.Reopen),
		may(1, s.retarget, people.Retarget), may(1, s.draft, people.Draft),
		may(1, s.commitToHead, people.Merge), may(1, s.deleteBranch, s.Git.Delete, people.Merge), may(1, s.openFromFork, people.Fork),
		may(2, s.review, people.Review), may(1, s.comment, people.Comment), may(2, s.command, people.Comment), may(3, s.reportCheck, people.Status),
		may(1, s.retitle, people.Retitle),
	}
}

// interleave lets a user act in the middle of a run.
func (s *story) interleave() {
	people := s.People
	act := s.pick(
		may(2, s.merge, people.Merge), may(2, s.close, people.Close), may(1, s.reopen, people.Reopen),
		may(1, s.retarget, people.Retarget), may(1, s.draft, people.Draft),
		may(1, s.commitToHead, people.Merge), may(1, s.deleteBranch, s.Git.Delete, people.Merge),
		may(1, s.revert), may(1, s.moveBase), may(1, s.changeConfig), may(1, s.release),
		may(1, s.holdOrResume), may(1, s.freeze), may(1, s.reject), may(1, s.command, people.Comment),
	)
	at := s.random.IntN(6)
	s.log("a run, with a user at effect %d", at)
	s.atEffect(at, func() {
		s.interleaved = true
		act()
	})
}
