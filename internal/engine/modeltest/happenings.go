package modeltest

import "reflect"

// happening is one thing that may happen, as often as it weighs, where the world
// has the hooks for it.
type happening struct {
	weight int
	do     func()
	hooks  []any
}

func may(weight int, do func(), hooks ...any) happening { return happening{weight, do, hooks} }

// pick chooses by chance among those for which the world has the hooks.
func (s *story) pick(among ...happening) func() {
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

// happenings are all that may happen.
func (s *story) happenings() []happening {
	people, world := s.People, s.World.Bench.World
	return []happening{
		may(8, s.release), may(1, s.moveBack), may(1, s.registryDown), may(2, s.wait),
		may(4, s.run), may(3, s.crash), may(2, s.race), may(1, s.skewed), may(2, s.flaky), may(4, s.meanwhile),
		may(2, s.lose, world.Lose), may(2, s.fail, world.Fail), may(1, s.limit, world.Limit),
		may(1, s.revert), may(1, s.moveBase), may(1, s.forgeTrailers), may(1, s.changeConfig), may(1, s.rename, world.Rename),
		may(1, s.decide), may(1, s.ask), may(1, s.freeze), may(1, s.rollback), may(1, s.reject),
		may(8, s.merge, people.Merge), may(2, s.close, people.Close), may(2, s.reopen, people.Reopen),
		may(1, s.retarget, people.Retarget), may(1, s.draft, people.Draft),
		may(1, s.slip, people.Merge), may(1, s.deleteBranch, s.Git.Delete, people.Merge), may(1, s.forge, people.Fork),
		may(2, s.review, people.Review), may(1, s.comment, people.Comment), may(2, s.command, people.Comment), may(3, s.report, people.Status),
		may(1, s.retitle, people.Retitle),
	}
}

// meanwhile lets somebody act in the middle of a run.
func (s *story) meanwhile() {
	people := s.People
	act := s.pick(
		may(2, s.merge, people.Merge), may(2, s.close, people.Close), may(1, s.reopen, people.Reopen),
		may(1, s.retarget, people.Retarget), may(1, s.draft, people.Draft),
		may(1, s.slip, people.Merge), may(1, s.deleteBranch, s.Git.Delete, people.Merge),
		may(1, s.revert), may(1, s.moveBase), may(1, s.changeConfig), may(1, s.release),
		may(1, s.decide), may(1, s.freeze), may(1, s.reject), may(1, s.command, people.Comment),
	)
	at := s.random.IntN(6)
	s.tell("a run, and at effect %d", at)
	s.atEffect(at, func() {
		s.torn = true
		act()
	})
}
