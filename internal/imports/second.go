package imports

import (
	"fmt"
	"slices"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/suggest/bots"
)

// OtherWriters warns of each tool that updates images which a config follows, in files that it
// matches: two tools undo each other's changes. Only tools that the files of the repository
// configure are known.
func OtherWriters(c *config.Config, found Found) (problems config.Problems) {
	for _, w := range found.writers() {
		both := shared{config: c}
		for _, r := range found.References {
			if !r.Repository.IsZero() && !slices.Contains(both.images, r.Repository) && w.Updates(r.Position.File, r.Repository) {
				both.addReference(r)
			}
		}
		for i := range c.Environments { // values without a reference beside them
			e := &c.Environments[i]
			for _, write := range e.Write {
				component, _ := c.Component(write.Component)
				repository, one := component.RepositoryIn("")
				if one && !slices.Contains(both.images, repository) && w.Updates(write.File, repository) {
					both.add(e, component, repository, write.File)
				}
			}
		}
		if len(both.images) > 0 {
			problems = append(problems, both.problem(w))
		}
	}
	return problems
}

// shared is what another tool updates of what a config follows.
type shared struct {
	config   *config.Config
	images   []image.Repository
	observed int             // images in environments that promoter only observes
	at       config.Position // of the component of the first image
	first    string          // where the first image is
}

func (s *shared) addReference(r edit.Reference) {
	for i := range s.config.Environments {
		e := &s.config.Environments[i]
		application, matched := e.Match(r.Position.File)
		if match, follows := s.config.Follow(e.Name, application, r.Repository); matched && follows {
			component, _ := s.config.Component(match.Component)
			s.add(e, component, r.Repository, r.Position.String())
			return
		}
	}
}

// add adds an image that is not there yet.
func (s *shared) add(e *config.Environment, component config.Component, repository image.Repository, where string) {
	if len(s.images) == 0 {
		s.at, s.first = component.Position, where
	}
	s.images = append(s.images, repository)
	if e.Propose == setting.ProposeNever {
		s.observed++
	}
}

func (s *shared) problem(w bots.Writer) config.Problem {
	what := s.images[0].Familiar()
	if more := len(s.images) - 1; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	message := fmt.Sprintf("%s (%s) also updates %s, such as in %s: two tools undo each other's changes", w.Bot, w.File, what, s.first)
	if s.observed == len(s.images) {
		message = fmt.Sprintf("%s (%s) updates %s, and promoter only observes (propose: never)", w.Bot, w.File, s.images[0].Familiar())
	}
	return config.Problem{Severity: config.SeverityWarning, Position: s.at, Message: message, Hint: w.Off(s.images)}
}

// writers returns the tools that the files configure to update images.
func (f Found) writers() []bots.Writer {
	all := slices.Clone(f.Bots.Writers)
	d := &draft{found: f}
	objects := d.objectsOf(f.Settings)
	k := &kargoImport{draft: d, tasks: tasksOf(d, objects)}
	for _, o := range objects.of(kargoGroup, "Stage") {
		spec, ok := decode[stage](d, o)
		if !ok || len(spec.PromotionTemplate.Spec.Steps) == 0 {
			continue
		}
		files := k.written(readStage{object: o, stage: spec}).files
		all = append(all, bots.Writer{
			Bot: "Kargo's Stage " + o.name, File: o.file,
			Updates: func(file string, _ image.Repository) bool { return slices.Contains(files, file) },
			Off: func([]image.Repository) string {
				return "remove its promotion policy, and the Stage when nothing uses it any more"
			},
		})
	}
	return all
}
