package promotion

import (
	"cmp"
	"slices"

	"promoter/internal/config"
)

// survey is an observation with what many places ask of it, made once.
type survey struct {
	Observed
	standing     map[Place][]standing
	applications map[string][]string // by environment, in no order
}

func newSurvey(observed Observed) *survey {
	s := &survey{
		Observed:     observed,
		standing:     make(map[Place][]standing, len(observed.Places)),
		applications: map[string][]string{},
	}
	for place, present := range observed.Places {
		s.standing[place] = observed.standings(place, present)
		s.applications[place.Environment] = append(s.applications[place.Environment], place.Application)
	}
	return s
}

// applicationsOf returns the applications that an environment has files of, or
// could get from an environment before it, sorted.
func (s *survey) applicationsOf(environment string) []string {
	names := slices.Clone(s.applications[environment])
	for _, before := range s.Config.Ancestors(environment) {
		names = append(names, s.applications[before]...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 && s.Away[environment] != "" {
		return []string{""}
	}
	return names
}

// sourcesOf returns the places that the snapshot of an application comes from. A
// parent in which the application is absent is looked through, to the ones
// before it.
func (s *survey) sourcesOf(parents []config.Parent, application string) []Place {
	var found []Place
	for _, parent := range parents {
		found = append(found, s.lookThrough(Place{parent.Environment, application})...)
	}
	slices.SortFunc(found, func(a, b Place) int { return cmp.Compare(a.Environment, b.Environment) })
	return slices.Compact(found)
}

// lookThrough ends because the config refuses cycles.
func (s *survey) lookThrough(place Place) []Place {
	_, here := s.Places[place]
	_, away := s.Away[place.Environment]
	if here || away {
		return []Place{place}
	}
	return s.sourcesOf(s.Config.Settings(place.Environment, place.Application).After, place.Application)
}

// standingIn returns what a place says about a component; false when it does not
// refer to it.
func (s *survey) standingIn(place Place, component string) (standing, bool) {
	for _, there := range s.standing[place] {
		if there.component == component {
			return there, true
		}
	}
	return standing{}, false
}
