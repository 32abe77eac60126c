// Package unused warns of what a config file or the server file names and that matches nothing, or that
// nothing uses: mostly a typing mistake, or what a rename left behind.
//
// What one file alone shows is a warning of its loading. Here are the checks that need more: the
// files of a repository, the time, or both files. Each is one row of a table.
package unused

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/edit"
	"promoter/internal/promotion"
)

// Facts are what names, globs, keys, and windows are compared with.
type Facts struct {
	Now          time.Time
	Repositories []Repository         // whose config files are known
	Server       *serverconfig.Config // nil: not known
	// Complete is set if Repositories are all that the server file works on.
	Complete bool
	// Names are all repositories that the server file works on; nil: not known.
	Names []Matcher
}

// Matcher reports whether globs of the server file name a repository.
type Matcher func(globs []string) bool

// Repository is a repository with its config file.
type Repository struct {
	Config  *config.Config
	Matches Matcher // nil: its name is not known, so any glob may be of it
	// Branches are those that can be read; nil: no files are known.
	Branches []Branch
	// Certain is set if all branches can be read, and all references in them.
	Certain bool
	// Mentions are the texts in readable branches that name followed images, and that no edit changes.
	Mentions edit.Mentions
	// Everything returns the references of the branches to any image, for hints.
	Everything func() []edit.Reference
}

// Branch is the files of environments.
type Branch struct {
	Environments []string
	Files        []string
	Targets      map[promotion.Target]promotion.Current
}

func (r Repository) named(globs []string) bool { return r.Matches == nil || r.Matches(globs) }

// targets returns the targets of all branches, and what is in their files.
func (r Repository) targets() map[promotion.Target]promotion.Current {
	all := map[promotion.Target]promotion.Current{}
	for _, b := range r.Branches {
		maps.Copy(all, b.Targets)
	}
	return all
}

// finder collects what one row finds.
type finder struct {
	Facts
	problems config.Problems
}

func (f *finder) warn(at config.Position, hint, format string, args ...any) {
	f.problems = append(f.problems, config.Problem{
		Severity: config.SeverityWarning, Position: at, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// needs is what a row cannot do without.
type needs int

const (
	files    needs = 1 << iota // of the repository
	certain                    // all of them, and all references
	server                     // the server file
	names                      // the names of all repositories
	complete                   // the config files of all repositories
)

// configRows are about what a config file names.
var configRows = []struct {
	what  string
	needs needs
	find  func(f *finder, r Repository)
}{
	{"windows", 0, windows},
	{"mentions", 0, mentions},
	{"paths", files, paths},
	{"exclude", files, excludes},
	{"gates.hold", files, holdKeys},
	{"components", files | certain, components},
	{"applications", files | certain, applications},
	{"components of applications", files | certain, members},
	{"only.applications", files | certain, onlyApplications},
	{"health.from", server, healthReceivers},
	{"notify.to", server, notifyDestinations},
}

// serverRows are about what the server file names.
var serverRows = []struct {
	what  string
	needs needs
	find  func(f *finder)
}{
	{"forges", names, forges},
	{"repositories", names, repositoryGlobs},
	{"environments", complete, environmentGlobs},
	{"images of verify", complete, verifiedImages},
	{"notify.destinations", complete, destinations},
	{"receivers", complete, receivers},
}

// Find returns warnings, those of one file in its order.
func Find(facts Facts) config.Problems {
	f := &finder{Facts: facts}
	for _, r := range facts.Repositories {
		known := needs(0)
		if r.Branches != nil {
			known |= files
		}
		if r.Certain {
			known |= certain
		}
		if facts.Server != nil {
			known |= server
		}
		for _, row := range configRows {
			if row.needs&^known == 0 {
				row.find(f, r)
			}
		}
	}
	known := needs(0)
	if facts.Names != nil {
		known |= names
	}
	if facts.Complete {
		known |= complete
	}
	for _, row := range serverRows {
		if facts.Server != nil && row.needs&^known == 0 {
			row.find(f)
		}
	}
	slices.SortStableFunc(f.problems, func(a, b config.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.CompactFunc(f.problems, func(a, b config.Problem) bool { return a == b })
}
