package app

import (
	"slices"
	"strings"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater"
)

// follower tells the updater what the config follows in the files of a branch.
type follower struct {
	config       *config.Config
	given        Given // what a person named for a folder without a config
	environments []*config.Environment
	literals     []string
}

func newFollower(c *config.Config, names []string, given Given) *follower {
	f := &follower{config: c, given: given, literals: literalsOf(c)}
	for _, name := range names {
		environment, _ := c.Environment(name)
		f.environments = append(f.environments, environment)
	}
	return f
}

// literalsOf returns a text for each component of which every file that refers
// to it has one. A pattern without one makes every file worth reading.
func literalsOf(c *config.Config) []string {
	var literals []string
	for _, component := range c.Components {
		own := component.Pattern.Literals()
		if len(own) == 0 {
			return nil
		}
		literals = append(literals, own[len(own)-1])
	}
	return literals
}

// placesOf returns the places that a file belongs to: one, as long as the
// environments of a branch do not overlap.
func (f *follower) placesOf(file string) []promotion.Target {
	var targets []promotion.Target
	for _, environment := range f.environments {
		if application, ok := environment.Match(file); ok {
			targets = append(targets, promotion.Target{Environment: environment.Name, Application: application})
		}
	}
	return targets
}

// Follow implements updater.Follower.
func (f *follower) Follow(file string, repository image.Repository) (updater.Followed, bool) {
	for _, target := range f.placesOf(file) {
		match, ok := f.config.Follow(target.Environment, target.Application, repository)
		if ok {
			return f.followed(match, repository), true
		}
	}
	return updater.Followed{}, false
}

// Named implements updater.Follower. A component that a pattern found cannot be
// named by a marker, because nothing says which repository is meant.
func (f *follower) Named(file, name string) (updater.Followed, bool) {
	component, ok := f.config.Component(name)
	if !ok {
		return updater.Followed{}, false
	}
	repository, exact := component.Pattern.Repository()
	if !exact {
		return updater.Followed{}, false
	}
	found, ok := f.Follow(file, repository)
	return found, ok && found.Component == name
}

// Literals implements updater.Follower.
func (f *follower) Literals() []string { return f.literals }

func (f *follower) followed(match config.Match, repository image.Repository) updater.Followed {
	component, _ := f.config.Component(match.Component)
	followed := updater.Followed{
		Component:  match.Name,
		Artifact:   component.Artifact,
		Repository: repository,
		Pin:        component.Pin,
		Moving:     component.Select.Tag != "",
		Source:     component.Source,
		Numeric:    component.Select.Numeric != "",
	}
	if version, ok := f.given[repository]; ok {
		return asGiven(followed, version)
	}
	return followed
}

// asGiven says how a version is written that a person named without a config: as
// it was named. A digest that was given is never lost; a digest alone is another
// build of the tag that stands there.
func asGiven(followed updater.Followed, version image.Version) updater.Followed {
	followed.Numeric = version.Tag != "" && strings.Trim(version.Tag, "0123456789") == ""
	switch {
	case version.Digest == "":
	case version.Tag == "":
		followed.Moving, followed.TagStays = true, true
	default:
		followed.Pin = image.PinTagDigest
	}
	return followed
}

// writes returns the configured places of a file. Overrides of applications have
// none, so the environment alone tells.
func (f *follower) writes(file string) []updater.Write {
	var writes []updater.Write
	for _, environment := range f.environments {
		if len(environment.Write) == 0 {
			continue
		}
		if application, ok := environment.Match(file); ok {
			writes = append(writes, writesOf(environment, application, file)...)
		}
	}
	return writes
}

// writesAny says whether the config names places in files at all.
func (f *follower) writesAny() bool {
	return slices.ContainsFunc(f.environments, func(e *config.Environment) bool { return len(e.Write) > 0 })
}

func writesOf(environment *config.Environment, application, file string) []updater.Write {
	var writes []updater.Write
	fill := placeholders(environment.Name, application)
	for _, w := range environment.Write {
		if fill.Replace(w.File) != file {
			continue
		}
		writes = append(writes, updater.Write{
			Path: w.Path, Regex: w.Regex, Component: w.Component, Value: fill.Replace(w.Value), Create: w.Create,
		})
	}
	return writes
}

// missingWrites returns the files that the config wants written in a place and
// that it does not have.
func (f *follower) missingWrites(target promotion.Target, has func(file string) bool) []edit.Refusal {
	var refusals []edit.Refusal
	environment, _ := f.config.Environment(target.Environment)
	fill := placeholders(target.Environment, target.Application)
	for _, w := range environment.Write {
		if file := fill.Replace(w.File); !has(file) {
			refusals = append(refusals, edit.Refusal{
				File: file, Component: w.Component,
				Reason: "the config wants it written and it is not there: correct write in " + target.Environment,
			})
		}
	}
	return refusals
}

// placeholders fills in what the place tells; the rest depends on the version.
func placeholders(environment, application string) *strings.Replacer {
	return strings.NewReplacer("{environment}", environment, "{application}", application)
}
