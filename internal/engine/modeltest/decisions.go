package modeltest

import (
	"strings"

	"promoter/internal/promotion"

	"promoter/internal/state"
)

// say is a person who decides by a command, from another machine.
func (s *story) say(words string, changes ...state.Change) {
	s.t.Helper()
	s.tell("%s", words)
	err := s.decided(changes)
	if err != nil {
		err = s.decided(changes) // what goes wrong at the server may hit a person once
	}
	if err != nil {
		s.t.Error(err)
	}
}

func (s *story) decided(changes []state.Change) error {
	lane, end, err := s.lane(true)
	if err != nil {
		return err
	}
	defer end()
	_, err = lane.RecordDecision(s.t.Context(), "A person decides", changes...)
	return err
}

func (s *story) decide() {
	target := s.wide()
	if s.random.IntN(2) == 0 {
		s.say("resume "+target.String(), state.Resume(target, s.act()))
		s.resumed(target)
		return
	}
	s.say("hold "+target.String(), state.Hold(target, s.act()))
}

// resumed forgets what people refused in a place, and in all that it holds.
func (s *story) resumed(wide state.Target) {
	for _, target := range places() {
		if within(target, wide) {
			clear(s.refused[target])
			delete(s.rolled, target)
		}
	}
}

// ask asks for what waits until somebody does.
func (s *story) ask() {
	target := state.Target{Environment: "prod", Application: "shop"}
	s.say("ask for "+target.String(), state.Ask(target, state.Request{Act: s.act()}))
}

func (s *story) freeze() {
	environment := append(environments(), state.All)[s.random.IntN(4)]
	if s.random.IntN(2) == 0 {
		s.say("thaw "+environment, state.Thaw(environment))
		return
	}
	s.say("freeze "+environment, state.Freeze(environment, s.act(), nil))
}

// reject refuses the newest version of an image, somewhere or everywhere.
func (s *story) reject() {
	repository := []string{web, worker}[s.random.IntN(2)]
	refused := reference(repository, s.newest(repository))
	target := s.wide()
	component := repository[strings.LastIndex(repository, "/")+1:]
	for _, inside := range places() {
		if within(inside, target) {
			s.refused[inside][refused] = true
		}
	}
	rejection := state.Rejection{Act: s.act(), Images: map[string]string{component: refused}}
	s.say("reject "+refused+" in "+target.String(), state.Reject(target, rejection))
}

// rollback has a place go back to what it held before.
func (s *story) rollback() {
	target := s.anyPlace()
	before, err := s.before(target)
	if err != nil {
		s.nothing()
		return
	}
	back := state.RolledBack{Act: s.act(), Images: map[string]string{}}
	for component, pinned := range before {
		back.Images[component] = pinned.String()
	}
	s.rolled[target] = true
	s.say("roll back "+target, state.Rollback(placeOf(target), back))
}

func (s *story) before(target string) (promotion.Snapshot, error) {
	lane, end, err := s.lane(true)
	if err != nil {
		return nil, err
	}
	defer end()
	return lane.PreviousSnapshot(s.t.Context(), promotion.Target(placeOf(target)))
}
