// Package scan finds the references that a config follows in the files of a
// branch, groups them by target, and rewrites them in memory.
//
// Files scans a list of files once, as plan and apply do in a checkout. A Cache
// scans commits: it reads only the files in which a commit differs from the one
// scanned before, and can keep the results on disk. Both return a Tree.
//
// The package makes no decisions and writes no files of a repository: package
// promotion decides, and the caller writes or commits what Rewrite returns.
package scan

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

	"promoter/internal/budget"
	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/updater"
	"promoter/internal/updater/site"
)

// ReadLimit is how much of a file is read, in bytes. It is more than what is
// parsed, so that a large file without any followed reference causes no refusal.
const ReadLimit = 32 << 20

// Tree is what the files of one branch contain. It does not change.
type Tree struct {
	// Targets has an entry for every target with files, also for one without
	// references.
	Targets map[promotion.Target]promotion.Current
	// Others are the references that no component follows where they are, in files that may
	// also have followed ones.
	Others []edit.Reference
	// Notes are about what the scan left unchanged without a refusal, by target. Only Files
	// finds them.
	Notes    map[promotion.Target][]edit.Note
	contents func(promotion.Target) contents
	limit    func(promotion.Current) promotion.Current // the refusals of an edit
	policy   func(promotion.Target, edit.Reference) *image.Policy
	reread   func(context.Context, promotion.Target) (promotion.Current, error)
}

// Reread reads the files of a target of a commit again, without anything that was remembered about
// them. A file that has gone is left out. What keeps files from being written is as it was
// found.
func (t *Tree) Reread(ctx context.Context, target promotion.Target) (promotion.Current, error) {
	return t.reread(ctx, target)
}

// named returns what a move writes, with the part of the tag that the policy of the component compares: what is made of a version
// depends only on its tag, also where the version was read from files.
func (t *Tree) named(target promotion.Target, move promotion.Move) image.Version {
	references := t.Targets[target].References
	i := slices.IndexFunc(references, func(r edit.Reference) bool { return r.Component == move.Component })
	if i < 0 {
		return move.To
	}
	return t.policy(target, references[i]).Named(move.To)
}

// contents is what Rewrite needs to know about the files of a target.
type contents struct {
	inventory *updater.Inventory
	files     map[string]updater.File // by path
}

// Request describes a scan of the files of one branch.
type Request struct {
	Config       *config.Config
	Environments []string // those on the branch
	Explicit     image.ExplicitVersions
	Filter       PathFilter
	MaxFileSize  int64 // bytes over which a file is not parsed; 0: the updater's default
}

// Files scans the files of a branch, in any order. It skips the config file, of
// which nothing is deployed.
func Files(ctx context.Context, request Request, files iter.Seq2[updater.File, error]) (*Tree, error) {
	m := newMatcher(request.Config, request.Environments, request.Explicit)
	tree := &Tree{Targets: map[promotion.Target]promotion.Current{}}
	known, captured := map[string]updater.File{}, map[promotion.Target]string{}
	recorded := func(yield func(updater.File, error) bool) {
		for file, err := range files {
			if err == nil {
				if file.Path == config.FileName || !request.Filter.Match(file.Path) {
					continue
				}
				if err := budget.Spend(ctx, budget.Paths, config.FileName, m.cost(file.Path)); err != nil {
					yield(updater.File{}, err)
					return
				}
				for _, target := range m.targets(file.Path) {
					known[file.Path] = file
					if target.Application != "" {
						tree.Targets[target] = promotion.Current{}
					}
					captured[target] = m.captured(target, file.Path)
				}
			}
			if !yield(file, err) {
				return
			}
		}
	}
	inventory, err := updater.New(m, m.options(request.MaxFileSize)).Scan(ctx, recorded)
	if err != nil {
		return nil, err
	}
	m.group(inventory, tree.Targets)
	m.groupHolds(inventory, tree.Targets)
	m.groupMentions(inventory, tree.Targets)
	tree.Others = inventory.Others
	for _, environment := range m.environments {
		m.addWritten(environment, tree.Targets)
	}
	exists := func(file string) bool {
		_, found := known[file]
		return found || !request.Filter.Match(file) // a file that was filtered out is not missing
	}
	for target, current := range tree.Targets {
		current.Refusals = append(current.Refusals, m.missingWrites(target, captured[target], exists)...)
		read := func(file string) ([]byte, error) { return known[file].Read() }
		limited, found := m.limitShared(target, current, read)
		if found {
			tree.Targets[target] = limited
		} else {
			delete(tree.Targets, target)
		}
	}
	tree.Notes = m.notes(inventory.Notes, tree.Targets)
	tree.contents = func(promotion.Target) contents { return contents{inventory, known} }
	tree.limit, tree.policy = m.limitEdit, m.policy
	return tree, nil
}

// notes returns the notes by target. Of the targets that share a file because each component is an
// application, the first one has them.
func (m *matcher) notes(all []edit.Note, targets map[promotion.Target]promotion.Current) map[promotion.Target][]edit.Note {
	first := map[promotion.Target]promotion.Target{} // by the target that has the files
	for target := range targets {
		of := m.shared(target)
		if other, found := first[of]; !found || target.Compare(other) < 0 {
			first[of] = target
		}
	}
	notes := map[promotion.Target][]edit.Note{}
	for _, note := range all {
		for _, of := range m.targets(note.Position.File) {
			if target, found := first[of]; found {
				notes[target] = append(notes[target], note)
			}
		}
	}
	return notes
}

// PathFilter selects files by their path. The zero value selects all.
type PathFilter struct{ paths *config.Paths }

// NewPathFilter returns a filter for files that match any of the globs; without
// globs, for all files.
func NewPathFilter(globs []string) (PathFilter, error) {
	if len(globs) == 0 {
		return PathFilter{}, nil
	}
	paths, err := config.ParsePaths(globs)
	return PathFilter{paths}, err
}

// Match reports whether the filter selects the file.
func (f PathFilter) Match(file string) bool { return f.paths == nil || f.paths.Match(file) }

// Applications returns the applications that have files in an environment, judged
// by the paths alone, sorted. Those of an environment by component are not found.
func Applications(environment *config.Environment, files iter.Seq[string]) []string {
	var found []string
	for file := range files {
		if application, ok := environment.Match(file); ok && file != config.FileName {
			found = append(found, application)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// All finds the references to every image and chart in the files, for a tree that
// has no config yet, and lists the paths of all regular files. The tag in a file that holds
// only a tag is a reference without a repository, see ShapeTagFile.
func All(
	ctx context.Context, files iter.Seq2[updater.File, error], maxFileSize int64,
) (references []edit.Reference, paths []string, err error) {
	var tags []edit.Reference
	var mutex sync.Mutex // files are read at the same time
	recorded := func(yield func(updater.File, error) bool) {
		for file, err := range files {
			if err == nil && file.Path == config.FileName {
				continue
			}
			if err == nil && file.Mode == updater.Regular {
				paths = append(paths, file.Path)
				read := file.Read
				file.Read = func() ([]byte, error) {
					content, err := read()
					if tag, ok := tagOf(file.Path, content); ok && err == nil {
						mutex.Lock()
						defer mutex.Unlock()
						tags = append(tags, tag)
					}
					return content, err
				}
			}
			if !yield(file, err) {
				return
			}
		}
	}
	found, err := updater.New(everything{}, updater.Options{MaxFileSize: maxFileSize}).Scan(ctx, recorded)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(tags, func(a, b edit.Reference) int { return strings.Compare(a.Position.File, b.Position.File) })
	tags = slices.CompactFunc(tags, func(a, b edit.Reference) bool { return a.Position == b.Position })
	return append(found.References, tags...), paths, nil
}

// Watch yields the files, and gives the content of each regular one that is read to read,
// also from several goroutines at the same time. Those that always selects are read in
// any case.
func Watch(
	files iter.Seq2[updater.File, error], always func(file string) bool, read func(file string, content []byte),
) iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		for file, err := range files {
			if content := file.Read; err == nil && content != nil && file.Mode == updater.Regular {
				file.Read = func() ([]byte, error) {
					data, err := content()
					if err == nil {
						read(file.Path, data)
					}
					return data, err
				}
				if always(file.Path) {
					_, err = file.Read()
				}
			}
			if !yield(file, err) {
				return
			}
		}
	}
}

// everything follows every repository, each as a component of its own name.
type everything struct{}

// Follow implements shapes.Follower.
func (everything) Follow(_ string, repository image.Repository) (site.Followed, bool) {
	return site.Followed{Component: repository.String(), Repository: repository}, true
}

// Named implements shapes.Follower. No component has a name yet.
func (everything) Named(string, string) (site.Followed, bool) { return site.Followed{}, false }

// Literals implements shapes.Follower.
func (everything) Literals() []string { return nil }
