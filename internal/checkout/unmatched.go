package checkout

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/scan"
	"promoter/internal/strictyaml"
	"promoter/internal/updater"
)

// Unmatched warns about paths and components of a config that match nothing in the files
// of a checkout, which is mostly a typing mistake. There are no warnings about branches that
// cannot be read, nor in a folder that is not the root of a Git repository.
func Unmatched(ctx context.Context, dir string, loaded *config.Config) (problems config.Problems, err error) {
	if absolute, err := filepath.Abs(dir); err != nil || RepositoryRoot(dir) != absolute {
		return nil, nil //nolint:nilerr // nothing to compare with
	}
	c, err := openLoaded(dir, loaded, nil)
	if err != nil {
		return nil, err
	}
	branches, err := c.branches(loaded.Order())
	if err != nil {
		return nil, err
	}
	var references []edit.Reference
	certain := true // that all references are known
	for _, b := range branches {
		if b.unavailable != "" {
			certain = false
			continue
		}
		var files []string
		recorded := func(yield func(updater.File, error) bool) {
			for file, err := range b.files(ctx, dir) {
				if err == nil && file.Path != config.FileName {
					files = append(files, file.Path)
				}
				if !yield(file, err) {
					return
				}
			}
		}
		tree, err := scan.Files(ctx, scan.Request{Config: loaded, Environments: b.environments}, recorded)
		if err != nil {
			return nil, err
		}
		for _, name := range b.environments {
			environment, _ := loaded.Environment(name)
			problems = append(problems, unmatchedPaths(environment, files)...)
		}
		for _, current := range tree.Targets {
			references = append(references, current.References...)
			certain = certain && len(current.Refusals) == 0
		}
	}
	if !certain {
		return problems, nil
	}
	unused := slices.DeleteFunc(slices.Clone(loaded.Components), func(c config.Component) bool {
		return slices.ContainsFunc(references, func(r edit.Reference) bool {
			return r.Component == c.Name || c.Pattern.Match(r.Repository)
		})
	})
	if len(unused) == 0 {
		return problems, nil
	}
	var all []edit.Reference
	for _, b := range branches {
		found, _, err := scan.All(ctx, b.files(ctx, dir), 0)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	for _, component := range unused {
		problems = append(problems, warning(component.Position, unusedHint(component, all),
			"no file of an environment references %s, which %s follows", component.Pattern, component.Name))
	}
	return problems, nil
}

func unmatchedPaths(environment *config.Environment, files []string) (problems config.Problems) {
	for _, text := range environment.Paths {
		paths, err := config.ParsePaths([]string{strings.ReplaceAll(text, "{application}", "*")})
		if err == nil && !slices.ContainsFunc(files, paths.Match) {
			problems = append(problems, warning(environment.Position, "paths begin at the root of the repository",
				"no file matches the path %q of %s", text, environment.Name))
		}
	}
	return problems
}

// unusedHint names the reference that a component may mean.
func unusedHint(component config.Component, all []edit.Reference) string {
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
	if near := strictyaml.Nearest(wanted, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "correct the name, or remove the component"
}

func warning(at strictyaml.Position, hint, format string, args ...any) config.Problem {
	return config.Problem{Severity: config.SeverityWarning, Position: at, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// unmatchedGlobs are the globs of --path that matched no file yet.
type unmatchedGlobs map[string]*config.Paths

func newUnmatched(globs []string) (unmatchedGlobs, error) {
	unmatched := unmatchedGlobs{}
	for _, glob := range globs {
		paths, err := config.ParsePaths([]string{glob})
		if err != nil {
			return nil, err
		}
		unmatched[glob] = paths
	}
	return unmatched, nil
}

// watch yields the files, and removes the globs that match.
func (u unmatchedGlobs) watch(files iter.Seq2[updater.File, error]) iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		for file, err := range files {
			maps.DeleteFunc(u, func(_ string, paths *config.Paths) bool { return err == nil && paths.Match(file.Path) })
			if !yield(file, err) {
				return
			}
		}
	}
}
