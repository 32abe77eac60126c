package promotion

import (
	"cmp"
	"slices"

	"promoter/internal/config"
)

// survey is an observation with what many places ask of it, made once.
type survey struct {
	Observation
	standing     map[Target][]standing
	applications map[string][]string // by environment, in no order
}

func newSurvey(observation Observation) *survey {
	s := &survey{
		Observation:  observation,
		standing:     make(map[Target][]standing, len(observation.Targets)),
		applications: map[string][]string{},
	}
	for target, present := range observation.Targets {
		s.standing[target] = observation.standings(target, present)
		s.applications[target.Environment] = append(s.applications[target.Environment], target.Application)
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
	if len(names) == 0 && s.Unavailable[environment] != "" {
		return []string{""}
	}
	return names
}

// sourcesOf returns the places that the snapshot of an application comes from. A
// parent in which the application is absent is looked through, to the ones
// before it.
func (s *survey) sourcesOf(parents []config.Parent, application string) []Target {
	var found []Target
	for _, parent := range parents {
		found = append(found, s.lookThrough(Target{parent.Environment, application})...)
	}
	slices.SortFunc(found, func(a, b Target) int { return cmp.Compare(a.Environment, b.Environment) })
	return slices.Compact(found)
}

// lookThrough ends because the config refuses cycles.
func (s *survey) lookThrough(target Target) []Target {
	_, here := s.Targets[target]
	_, away := s.Unavailable[target.Environment]
	if here || away {
		return []Target{target}
	}
	return s.sourcesOf(s.Config.Settings(target.Environment, target.Application).After, target.Application)
}

// standingIn returns what a place says about a component; false when it does not
// refer to it.
func (s *survey) standingIn(target Target, component string) (standing, bool) {
	for _, there := range s.standing[target] {
		if there.component == component {
			return there, true
		}
	}
	return standing{}, false
}
