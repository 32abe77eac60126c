package unused

import (
	"path"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/edit"
	"promoter/internal/glob"
	"promoter/internal/health"
	"promoter/internal/printable"
	"promoter/internal/promotion"
	"promoter/internal/schedule"
	"promoter/internal/strictyaml"
)

// windows warns of windows that have no effect any more: an allow window that never opens again, a
// deny window that never denies again.
func windows(f *finder, r Repository) {
	for _, w := range r.Config.Windows {
		state := (schedule.Windows{w.Compiled}).State(f.Now)
		switch {
		case !state.Until.IsZero():
		case w.Kind == schedule.Allow && !state.Open:
			f.warn(w.Position, "change it, or remove it", "the window %s never opens again, so it allows nothing", w.Name)
		case w.Kind == schedule.Deny && state.Open:
			f.warn(w.Position, "change it, or remove it", "the window %s has ended, so it denies nothing", w.Name)
		}
	}
}

// mentions warns of texts that name followed images in a form that is not edited.
func mentions(f *finder, r Repository) {
	for _, m := range r.Mentions.Listed {
		at := config.Position{File: m.File, Line: m.Line, Column: m.Column}
		const hint = "use a form that promoter edits, write, or a marker; or end the line with promoter: ignore in a comment"
		f.warn(at, hint, "%s is named as %s in a form that promoter does not edit", m.Component, printable.Line(m.Text))
	}
	if more := r.Mentions.More; more > 0 {
		f.warn(r.Config.Environments[0].Position, "see docs/writing.md#mentions",
			"%d more texts name followed images in a form that promoter does not edit", more)
	}
}

// each visits the environments whose branch can be read, with its files.
func each(r Repository, visit func(e *config.Environment, files []string)) {
	for _, b := range r.Branches {
		for _, name := range b.Environments {
			if e, known := r.Config.Environment(name); known {
				visit(e, b.Files)
			}
		}
	}
}

// matchesNone reports whether a valid glob of paths matches none of the files.
func matchesNone(text string, files []string) bool {
	parsed, err := config.ParsePaths([]string{strings.ReplaceAll(text, glob.Application, "*")})
	return err == nil && !slices.ContainsFunc(files, parsed.Match)
}

func paths(f *finder, r Repository) {
	each(r, func(e *config.Environment, files []string) {
		for _, text := range e.Paths {
			if matchesNone(text, files) {
				f.warn(e.Position, "paths begin at the root of the repository", "no file matches the path %q of %s", text, e.Name)
			}
		}
	})
}

func excludes(f *finder, r Repository) {
	each(r, func(e *config.Environment, files []string) {
		for _, text := range e.Exclude {
			if matchesNone(text, files) {
				f.warn(e.Position, correct, "no file matches the exclude %q of %s", text, e.Name)
			}
		}
	})
}

// correct is the hint for what probably is a typing mistake.
const correct = "correct it, or remove it"

// maxNamed is how many applications a warning names.
const maxNamed = 3

// holdKeys warns of targets that gates.hold holds because no file has its key.
func holdKeys(f *finder, r Repository) {
	type place struct {
		setting.Hold
		environment string
	}
	without := map[place][]string{} // applications
	var places []place              // in order
	for target, current := range r.targets() {
		settings := r.Config.Settings(target.Environment, target.Application)
		hold := settings.Gates.Hold
		if hold == nil || hold.AbsentPasses || len(current.References) == 0 {
			continue
		}
		absent := len(current.Holds) == 0
		if !r.Config.Captures() || settings.ByComponent {
			absent = slices.ContainsFunc(current.References, func(reference edit.Reference) bool {
				return len(current.HoldsOf(reference.Component)) == 0
			})
		}
		if !absent {
			continue
		}
		at := place{*hold, target.Environment}
		if without[at] == nil {
			places = append(places, at)
		}
		without[at] = append(without[at], target.Name())
	}
	for _, at := range places {
		slices.Sort(without[at])
		f.warn(at.Position, "add the key, or set gates.hold.absent to pass", "no file of %s has %s, so promotions wait",
			printable.First(without[at], maxNamed, " and"), at.Key)
	}
}

// components warns of components that no file references.
func components(f *finder, r Repository) {
	var references []edit.Reference
	for _, current := range r.targets() {
		references = append(references, current.References...)
	}
	var all []edit.Reference
	for _, c := range r.Config.Components {
		isNamed := func(m edit.Mention) bool { return m.Component == c.Name || c.Pattern.Match(m.Repository) }
		if slices.ContainsFunc(references, func(reference edit.Reference) bool { return isOf(c, reference) }) ||
			slices.ContainsFunc(r.Mentions.Listed, isNamed) {
			continue
		}
		if all == nil && r.Everything != nil {
			all = r.Everything()
		}
		f.warn(c.Position, hintFor(c, all), "no file of an environment references %s, which %s follows", c.Pattern, c.Name)
	}
}

// isOf reports whether a reference is of a component.
func isOf(c config.Component, r edit.Reference) bool {
	return r.Component == c.Name || c.Pattern.Match(r.Repository)
}

// hintFor names the reference that a component may mean.
func hintFor(component config.Component, all []edit.Reference) string {
	var names []string
	for _, r := range all {
		if r.Repository.IsZero() { // a file that holds only a tag
			continue
		}
		if component.Pattern.Match(r.Repository) {
			return r.Position.File + " references it: add that file to the paths of an environment"
		}
		names = append(names, r.Repository.String())
	}
	wanted := component.Pattern.String()
	same := slices.IndexFunc(names, func(name string) bool { return path.Base(name) == path.Base(wanted) })
	if same >= 0 {
		return "did you mean " + names[same] + "?"
	}
	return meant(wanted, names, "correct the name, or remove the component")
}

// meant is the hint for a name that matches none of the known ones.
func meant(name string, known []string, otherwise string) string {
	if near := strictyaml.Nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}

// applicationsOf returns the names of the applications that have files, sorted.
func applicationsOf(r Repository) (names []string) {
	for target := range r.targets() {
		names = append(names, target.Application)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func matchesAny(pattern string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return glob.MatchName(pattern, name) })
}

func applications(f *finder, r Repository) {
	names := applicationsOf(r)
	for _, a := range r.Config.Applications {
		if !matchesAny(a.Name, names) {
			f.warn(a.Position, meant(a.Name, names, correct), "no application is called %s, so its settings have no effect", a.Name)
		}
	}
}

func members(f *finder, r Repository) {
	targets, names := r.targets(), applicationsOf(r)
	for _, a := range r.Config.Applications {
		for _, name := range a.Components {
			c, known := r.Config.Component(name)
			used := func(target promotion.Target) bool {
				return glob.MatchName(a.Name, target.Application) &&
					slices.ContainsFunc(targets[target].References, func(r edit.Reference) bool { return isOf(c, r) })
			}
			if known && matchesAny(a.Name, names) && !anyTarget(targets, used) {
				f.warn(a.Position, "correct components, or remove it there", "no file of %s references its component %s", a.Name, name)
			}
		}
	}
}

func anyTarget(targets map[promotion.Target]promotion.Current, is func(promotion.Target) bool) bool {
	for target := range targets {
		if is(target) {
			return true
		}
	}
	return false
}

func onlyApplications(f *finder, r Repository) {
	names := applicationsOf(r)
	for _, c := range r.Config.Components {
		if c.Only == nil {
			continue
		}
		for _, pattern := range c.Only.Applications {
			if !matchesAny(pattern, names) {
				f.warn(c.Position, meant(pattern, names, correct),
					"no application is called %s in only.applications of %s", pattern, c.Name)
			}
		}
	}
}

// healthReceivers warns of receivers that a config names and that cannot report health for it.
func healthReceivers(f *finder, r Repository) {
	kinds := map[string]string{health.ArgoCD: "argocd", health.Flux: "flux", health.API: "evidence"}
	checked := map[string]bool{"": true}
	for _, monitored := range r.Config.Healths() {
		if checked[monitored.From] {
			continue
		}
		checked[monitored.From] = true
		wanted := kinds[monitored.Source()]
		i := slices.IndexFunc(f.Server.Receivers, func(one receiver) bool { return one.Name == monitored.From })
		switch {
		case i < 0:
			f.warn(monitored.Position, "add it to receivers, with kind: "+wanted,
				"health is never known: from names the receiver %s, which the server file does not have", monitored.From)
		case f.Server.Receivers[i].Kind != wanted:
			f.warn(monitored.Position, "name one with kind: "+wanted,
				"health is never known: from names the receiver %s, which is of the kind %s", monitored.From, f.Server.Receivers[i].Kind)
		case f.Server.Receivers[i].Repositories != nil && !r.named(f.Server.Receivers[i].Repositories):
			f.warn(monitored.Position, "add the repository to repositories of the receiver",
				"health is never known: the receiver %s reports for other repositories", monitored.From)
		}
	}
}

// notifyDestinations warns of destinations that a config names and may not use.
func notifyDestinations(f *finder, r Repository) {
	for _, name := range r.Config.NotifyDestinations() {
		if !slices.ContainsFunc(f.Server.Destinations, func(d destination) bool { return d.Name == name && r.named(d.Repositories) }) {
			f.warn(r.Config.NotifyPosition(name), "add the destination, or the repository to its repositories, or correct notify",
				"there is no destination %q that this repository may use", name)
		}
	}
}
