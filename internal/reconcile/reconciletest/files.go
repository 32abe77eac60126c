package reconciletest

import (
	"context"
	"slices"
	"strconv"
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
	for path, content := range t.files {
		for _, target := range t.targetsOf(path) {
			if present, found := targets[target]; found {
				present.Holds = append(present.Holds, t.holds(target, path, content)...)
				targets[target] = present
			}
		}
	}
	for _, present := range targets {
		slices.SortFunc(present.References, func(a, b edit.Reference) int {
			return strings.Compare(a.Position.String(), b.Position.String())
		})
	}
	return targets
}

// holds returns what a file has for the key of gates.hold of a target; at most one line.
func (t tree) holds(target promotion.Target, path, content string) []edit.Hold {
	hold := t.config.Settings(target.Environment, target.Application).Gates.Hold
	if hold == nil {
		return nil
	}
	for line := range strings.SplitSeq(content, "\n") {
		text, found := strings.CutPrefix(line, hold.Key+": ")
		if value, err := strconv.Unquote(text); found && err == nil {
			return []edit.Hold{{Position: edit.Position{File: path, Line: 1, Column: 1}, Key: hold.Key, Value: value}}
		}
	}
	return nil
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
	repository, mirror := parsed.Repository, image.Repository{}
	environment, _ := t.config.Environment(target.Environment)
	if mirrored := environment.MirroredBy(repository); len(mirrored) > 0 {
		repository, mirror = mirrored[0], repository
	}
	match, followed := t.config.Follow(target.Environment, target.Application, repository)
	reference := edit.Reference{
		Component: match.Name, Position: edit.Position{File: path, Line: line, Column: 1},
		Repository: repository, Mirror: mirror, Tag: parsed.Tag, Digest: parsed.Digest,
	}
	if t.pinned(target, repository) && parsed.Digest == "" {
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
		content, rewritten := out.Files[path]
		if !rewritten {
			content = []byte(t.files[path])
		}
		lines := strings.Split(string(content), "\n")
		written := r.Repository
		if !r.Mirror.IsZero() {
			written = r.Mirror
		}
		text := written.String() + ":" + moves[i].To.Tag
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
