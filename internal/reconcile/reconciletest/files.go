package reconciletest

import (
	"context"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/repo"
)

// Files reads files in which every line is one reference, or a YAML list item of one.
type Files struct{ Git *Git }

// At implements repo.Files.
func (f Files) At(_ context.Context, c *config.Config, commit string, environments []string) (repo.Tree, error) {
	t := tree{config: c, files: f.Git.FilesOf(commit), environments: environments}
	return t, nil
}

// Reread implements repo.Files. Nothing is remembered.
func (f Files) Reread(_ context.Context, tree repo.Tree, target promotion.Target) (promotion.Current, error) {
	return tree.Targets()[target], nil
}

type tree struct {
	config       *config.Config
	files        map[string]string
	environments []string
}

// Others implements repo.Tree.
func (t tree) Others() (others []edit.Reference) {
	for path, content := range t.files {
		for _, target := range t.targetsOf(path) {
			for i, line := range strings.Split(strings.TrimSuffix(content, "\n"), "\n") {
				if other, followed := t.reference(target, path, i+1, line); !followed && other.Tag != "" {
					others = append(others, other)
				}
			}
		}
	}
	return others
}

// Targets implements repo.Tree.
func (t tree) Targets() map[promotion.Target]promotion.Current {
	targets := map[promotion.Target]promotion.Current{}
	for path, content := range t.files {
		for _, target := range t.targetsOf(path) {
			present := targets[target]
			for i, line := range strings.Split(strings.TrimSuffix(content, "\n"), "\n") {
				if reference, found := t.reference(target, path, i+1, line); found {
					present.References = append(present.References, reference)
				}
			}
			targets[target] = present
		}
	}
	for _, present := range targets {
		slices.SortFunc(present.References, func(a, b edit.Reference) int {
			return strings.Compare(a.Position.String(), b.Position.String())
		})
	}
	return targets
}

func (t tree) targetsOf(path string) []promotion.Target {
	var targets []promotion.Target
	for _, name := range t.environments {
		environment, _ := t.config.Environment(name)
		if application, in := environment.Match(path); in {
			targets = append(targets, promotion.Target{Environment: name, Application: application})
		}
	}
	return targets
}

// item starts a list item.
const item = "- "

func (t tree) reference(target promotion.Target, path string, line int, text string) (edit.Reference, bool) {
	parsed, err := image.Parse(strings.TrimPrefix(text, item))
	if err != nil {
		return edit.Reference{}, false
	}
	match, followed := t.config.Follow(target.Environment, target.Application, parsed.Repository)
	reference := edit.Reference{
		Component: match.Name, Position: edit.Position{File: path, Line: line, Column: 1},
		Repository: parsed.Repository, Tag: parsed.Tag, Digest: parsed.Digest,
	}
	if t.pinned(target, parsed.Repository) && parsed.Digest == "" {
		reference.Form = edit.Form{Tag: true, Digest: true}
	}
	return reference, followed
}

// pinned reports whether a component has pin: tag+digest.
func (t tree) pinned(target promotion.Target, repository image.Repository) bool {
	match, _ := t.config.Follow(target.Environment, target.Application, repository)
	component, _ := t.config.Component(match.Component)
	return component.Pin == image.PinTagDigest
}

// Rewrite implements repo.Tree. Without pin: tag+digest, a reference without a digest stays
// without one.
func (t tree) Rewrite(_ context.Context, target promotion.Target, moves []promotion.Move) (repo.Rewritten, error) {
	out := repo.Rewritten{Files: map[string][]byte{}}
	for _, r := range t.Targets()[target].References {
		i := slices.IndexFunc(moves, func(m promotion.Move) bool { return m.Component == r.Component })
		if i < 0 {
			continue
		}
		path := r.Position.File
		content, written := out.Files[path]
		if !written {
			content = []byte(t.files[path])
		}
		lines := strings.Split(string(content), "\n")
		text := r.Repository.String() + ":" + moves[i].To.Tag
		if r.Digest != "" || t.pinned(target, r.Repository) {
			text += "@" + moves[i].To.Digest
		}
		line := &lines[r.Position.Line-1]
		if strings.HasPrefix(*line, item) {
			text = item + text
		}
		if *line != text {
			*line = text
			out.Files[path] = []byte(strings.Join(lines, "\n"))
		}
	}
	return out, nil
}
