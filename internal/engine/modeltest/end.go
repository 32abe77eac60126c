package modeltest

import (
	"slices"
	"time"

	"promoter/internal/engine"
	"promoter/internal/state"
)

// end: after the last event, passes come to rest, and then nothing is written.
func (s *story) end() {
	s.t.Helper()
	s.tell("the end")
	for range 4 {
		s.Clock.Add(2 * time.Hour)
		s.remember()
		s.pass()
		s.check()
	}
	s.alive()
	s.pass() // time passed since the last one
	s.disturbed(func(before bool, what string) error {
		if !before && what != saying {
			s.t.Errorf("passes never rest: %s", what)
		}
		return nil
	})
}

// alive: whatever happened, the next release goes on once nobody holds it.
func (s *story) alive() {
	s.t.Helper()
	everything := state.Target{Environment: state.All, Application: state.All}
	changes := []state.Change{state.Resume(everything, s.act()), state.Thaw(state.All)}
	for _, environment := range environments() {
		changes = append(changes, state.Thaw(environment))
	}
	s.say("resume and thaw everything", changes...)
	s.resumed(everything)
	s.released[web]++
	tag := s.next(web)
	for range 3 {
		s.remember()
		s.pass()
		s.Clock.Add(2 * time.Hour)
		s.check()
	}
	if !s.guarded && !s.queued && pushes(s.Store.Files(s.head("main"))[engine.ConfigFile]) && !slices.Contains(s.present("dev/shop"), reference(web, tag)) {
		s.t.Errorf("dev never got web %s", tag)
	}
}
