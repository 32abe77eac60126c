package imports

import (
	"fmt"
	"slices"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/image"
	"promoter/internal/suggest/bots"
)

// OtherWriters warns of each tool that updates images which a config follows, in files that it
// matches: two tools undo each other's changes. Only tools that the files of the repository
// configure are known.
func OtherWriters(c *config.Config, found Found) (problems config.Problems) {
	for _, w := range found.writers() {
		var images []image.Repository
		var never []string // environments that promoter only observes
		at, first := config.Position{}, ""
		for _, r := range found.References {
			if r.Repository.IsZero() || slices.Contains(images, r.Repository) || !w.Updates(r.Position.File, r.Repository) {
				continue
			}
			for i := range c.Environments {
				e := &c.Environments[i]
				application, matched := e.Match(r.Position.File)
				if match, follows := c.Follow(e.Name, application, r.Repository); matched && follows {
					component, _ := c.Component(match.Component)
					if first == "" {
						at, first = component.Position, r.Position.String()
					}
					images = append(images, r.Repository)
					if e.Propose == setting.ProposeNever {
						never = append(never, e.Name)
					}
					break
				}
			}
		}
		for i := range c.Environments { // values without a reference beside them
			e := &c.Environments[i]
			for _, write := range e.Write {
				component, _ := c.Component(write.Component)
				repository, one := component.RepositoryIn("")
				if !one || slices.Contains(images, repository) || !w.Updates(write.File, repository) {
					continue
				}
				if first == "" {
					at, first = component.Position, write.File
				}
				images = append(images, repository)
				if e.Propose == setting.ProposeNever {
					never = append(never, e.Name)
				}
			}
		}
		if len(images) == 0 {
			continue
		}
		message := fmt.Sprintf("%s (%s) also updates %s, such as in %s: two tools undo each other's changes", w.Bot, w.File,
			images[0].Familiar(), first)
		if len(images) > 1 {
			message = fmt.Sprintf("%s (%s) also updates %s and %d more, such as in %s: two tools undo each other's changes",
				w.Bot, w.File, images[0].Familiar(), len(images)-1, first)
		}
		if len(never) == len(images) {
			message = fmt.Sprintf("%s (%s) updates %s, and promoter only observes (propose: never)", w.Bot, w.File, images[0].Familiar())
		}
		problems = append(problems, config.Problem{Severity: config.SeverityWarning, Position: at, Message: message, Hint: w.Off(images)})
	}
	return problems
}

// writers returns the tools that the files configure to update images.
func (f Found) writers() []bots.Writer {
	all := slices.Clone(f.Bots.Writers)
	d := &draft{files: f.Files}
	objects := f.Reader.objects(d)
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
