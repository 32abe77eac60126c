package scan

import (
	"context"
	"maps"
	"math"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"promoter/internal/budget"
	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/git/object"
	"promoter/internal/promotion"
	"promoter/internal/updater"
)

// Repository reads the files of commits.
//
//nolint:interfacebloat // one implementation reads all of them from one mirror
type Repository interface {
	// Root returns the ID of the tree of a commit. With the same one, all files are
	// the same.
	Root(commit string) (object.ID, error)
	// List returns all files of a commit.
	List(ctx context.Context, commit string) ([]object.Entry, error)
	// Changed returns the paths of the files in which two commits differ.
	Changed(before, after string) ([]string, error)
	// File returns one file of a commit; a NotFound fault if there is none.
	File(commit, path string) (object.Entry, error)
	// Entry returns a file that was listed earlier, without reading the commit.
	Entry(path string, mode object.Mode, id object.ID) object.Entry
	// Content returns the content of a file: at most limit bytes and one more, so
	// that the caller can detect that there are more.
	Content(file object.Entry, limit int64) ([]byte, error)
}

// GitFile returns an entry of a Git tree as a file for the updater.
func GitFile(entry object.Entry, read func() ([]byte, error)) updater.File {
	file := updater.File{Path: entry.Path, Read: read}
	switch entry.Mode {
	case object.Symlink:
		file.Mode = updater.Symlink
	case object.Submodule:
		file.Mode = updater.Submodule
	}
	return file
}

// commitScanner scans the commits of a branch for one config. It derives the
// snapshot of a commit from the one before, from the files in which they differ. It lives as
// long as its repository is open; snapshots may live longer.
type commitScanner struct {
	matcher    *matcher
	repository Repository
	updater    *updater.Updater
	mutex      sync.Mutex
	recent     []*snapshot // newest first
}

// maxRecent is the number of snapshots to keep: before and after a change, and one
// more.
const maxRecent = 3

// snapshot is the state of the files of one commit. It does not change, and refers to no
// repository.
type snapshot struct {
	commit  string
	root    object.ID
	index   *updater.Index
	files   gitFiles
	targets currents // of all environments of the scanner
	others  []edit.Reference
	// links are the symbolic links among the files. What they point to may change while they do not.
	links []string
	// unsaved is in how many files it may differ from the saved snapshot.
	unsaved int
}

// currents is what the files of each target contain.
type currents = map[promotion.Target]promotion.Current

// gitFiles are the files of each target, by path; see matcher.shared.
type gitFiles map[promotion.Target]map[string]gitFile

// gitFile is a file of a commit.
type gitFile struct {
	mode object.Mode
	id   object.ID
}

// difference lists the files in which a commit differs from another one.
type difference struct {
	files   []object.Entry // new ones, and those with another content or mode
	removed []string
}

// maxDifference is how many files are compared one by one. If more changed, all
// are listed.
const maxDifference = 1000

func newCommitScanner(repository Repository, request Request) *commitScanner {
	m := newMatcher(request.Config, request.Environments, nil)
	return &commitScanner{
		matcher: m, repository: repository,
		updater: updater.New(m, m.options(request.MaxFileSize)),
	}
}

// scan returns the snapshot of a commit.
func (s *commitScanner) scan(ctx context.Context, commit string) (*snapshot, error) {
	root, err := s.repository.Root(commit)
	if err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, known := range s.recent {
		if known.root == root && len(known.index.Unread()) == 0 {
			return known, nil
		}
	}
	last := s.empty()
	var changed difference
	err = fault.New(fault.NotFound, "no commit was scanned before")
	if len(s.recent) > 0 {
		last = s.recent[0]
		changed, err = s.compare(last.commit, commit, slices.Concat(last.index.Unread(), last.links))
	}
	if err != nil { // without a usable commit before, scan all files
		last = s.empty()
		if changed.files, err = s.repository.List(ctx, commit); err != nil {
			return nil, err
		}
		changed.removed = nil
		changed.files = slices.DeleteFunc(changed.files, func(file object.Entry) bool { return file.Path == config.FileName })
	}
	next, err := s.next(ctx, last, commit, changed)
	if err != nil {
		return nil, err
	}
	next.root = root
	s.recent = slices.Insert(s.recent, 0, next)
	s.recent = s.recent[:min(len(s.recent), maxRecent)]
	return next, nil
}

func (s *commitScanner) empty() *snapshot {
	return &snapshot{index: s.updater.NewIndex(), unsaved: math.MaxInt}
}

// compare returns how a commit differs from another one. The named files belong to
// the difference in any case.
func (s *commitScanner) compare(before, after string, named []string) (difference, error) {
	paths, err := s.repository.Changed(before, after)
	if err != nil {
		return difference{}, err
	}
	if len(paths) > maxDifference {
		return difference{}, fault.New(fault.Invalid, "%d files differ", len(paths))
	}
	paths = append(paths, named...)
	slices.Sort(paths)
	var changed difference
	for _, path := range slices.Compact(paths) {
		if path == config.FileName {
			continue
		}
		file, err := s.repository.File(after, path)
		switch {
		case fault.KindOf(err) == fault.NotFound:
			changed.removed = append(changed.removed, path)
		case err != nil:
			return difference{}, err
		default:
			changed.files = append(changed.files, file)
		}
	}
	return changed, nil
}

// next returns the snapshot of a commit that differs from the last one as given.
// It examines only the targets of files that differ, or that depend on those.
func (s *commitScanner) next(ctx context.Context, last *snapshot, commit string, changed difference) (*snapshot, error) {
	shown := updater.Difference{Gone: changed.removed, Files: make([]updater.File, 0, len(changed.files))}
	for _, file := range changed.files {
		shown.Files = append(shown.Files, s.file(commit, file))
	}
	shown.Open = func(path string) (updater.File, error) {
		file, err := s.repository.File(commit, path)
		return s.file(commit, file), err
	}
	index, touched, err := last.index.Next(ctx, shown)
	if err != nil {
		return nil, err
	}
	next := &snapshot{
		commit: commit, index: index, others: last.others, links: s.linksAfter(last.links, changed), unsaved: last.unsaved,
	}
	if last.unsaved < math.MaxInt {
		next.unsaved += len(changed.files) + len(changed.removed)
	}
	var moved bool
	if next.files, moved, err = s.applyDifference(ctx, last.files, changed); err != nil {
		return nil, err
	}
	if moved && s.matcher.hasWrites() { // a file that write entries of any target need may have come or gone
		s.examineAll(next)
	} else {
		examined := map[promotion.Target]bool{} // see matcher.shared
		for _, path := range touched {
			for _, target := range s.matcher.targets(path) {
				examined[target] = next.files[target] != nil
			}
		}
		next.targets = s.without(last.targets, examined)
		for target, exists := range examined {
			if exists {
				s.examine(next, target)
			}
		}
	}
	if index.OthersDiffer(last.index, touched) {
		next.others = index.Others()
	}
	return next, nil
}

func (s *commitScanner) file(commit string, entry object.Entry) updater.File {
	if entry.Mode != object.Symlink || len(s.matcher.targets(entry.Path)) == 0 {
		return GitFile(entry, func() ([]byte, error) { return s.repository.Content(entry, ReadLimit) })
	}
	target, err := s.linked(commit, entry)
	switch fault.KindOf(err) {
	case "":
		return GitFile(entry, func() ([]byte, error) { return s.repository.Content(target, ReadLimit) })
	case fault.NotFound:
		return GitFile(entry, nil)
	default:
		return GitFile(entry, func() ([]byte, error) { return nil, err })
	}
}

// The longest link, and the longest chain of links, that are followed.
const (
	maxLink  = 4096
	maxLinks = 8
)

// linked returns the file that a symbolic link points to; a NotFound fault if that is no
// file of the commit.
func (s *commitScanner) linked(commit string, entry object.Entry) (object.Entry, error) {
	first := entry.Path
	for range maxLinks {
		text, err := s.repository.Content(entry, maxLink)
		if err != nil {
			return entry, err
		}
		target := path.Join(path.Dir(entry.Path), string(text))
		if path.IsAbs(string(text)) || len(text) > maxLink || !filepath.IsLocal(target) {
			break
		}
		if entry, err = s.repository.File(commit, target); err != nil {
			return entry, err
		}
		switch entry.Mode {
		case object.Symlink:
		case object.Submodule:
			return entry, fault.New(fault.NotFound, "%s points to a submodule", first)
		default:
			return entry, nil
		}
	}
	return entry, fault.New(fault.NotFound, "%s points to no file of the repository", first)
}

// without returns a copy of the targets without the examined ones, and those that share files with them.
func (s *commitScanner) without(targets currents, examined map[promotion.Target]bool) currents {
	rest := maps.Clone(targets)
	if rest == nil {
		return currents{}
	}
	share := false
	for target := range examined {
		delete(rest, target)
		share = share || target.Application == "" // see matcher.shared
	}
	if share {
		maps.DeleteFunc(rest, func(target promotion.Target, _ promotion.Current) bool {
			_, drop := examined[s.matcher.shared(target)]
			return drop
		})
	}
	return rest
}

// linksAfter returns the symbolic links among the files of targets after a change.
func (s *commitScanner) linksAfter(links []string, changed difference) []string {
	gone := map[string]bool{}
	for _, path := range changed.removed {
		gone[path] = true
	}
	var found []string
	for _, file := range changed.files {
		gone[file.Path] = true
		if file.Mode == object.Symlink && len(s.matcher.targets(file.Path)) > 0 {
			found = append(found, file.Path)
		}
	}
	return append(slices.DeleteFunc(slices.Clone(links), func(path string) bool { return gone[path] }), found...)
}

// applyDifference returns the files of each target after the change, and reports
// whether any file came or went. The budget is charged with it: a config file with many patterns, and files with long
// paths, would take minutes.
func (s *commitScanner) applyDifference(
	ctx context.Context, files gitFiles, changed difference,
) (after gitFiles, moved bool, err error) {
	after = maps.Clone(files)
	if after == nil {
		after = gitFiles{}
	}
	copied := map[promotion.Target]bool{}
	own := func(target promotion.Target) map[string]gitFile {
		if !copied[target] {
			copied[target] = true
			own := make(map[string]gitFile, len(after[target]))
			maps.Copy(own, after[target])
			after[target] = own
		}
		return after[target]
	}
	for _, file := range changed.files {
		if err := budget.Spend(ctx, budget.Paths, config.FileName, s.matcher.cost(file.Path)); err != nil {
			return nil, false, err
		}
		for _, target := range s.matcher.targets(file.Path) {
			if _, known := after[target][file.Path]; !known {
				moved = true
			}
			own(target)[file.Path] = gitFile{file.Mode, file.ID}
		}
	}
	for _, path := range changed.removed {
		for _, target := range s.matcher.targets(path) {
			if _, known := after[target][path]; known {
				moved = true
				delete(own(target), path)
			}
			if len(after[target]) == 0 {
				delete(after, target)
			}
		}
	}
	return after, moved, nil
}

// examine adds what the files of a target contain, or of all targets that share them. None of
// them is among the targets yet.
func (s *commitScanner) examine(of *snapshot, shared promotion.Target) {
	found, captured := map[promotion.Target]promotion.Current{}, ""
	if shared.Application != "" {
		found[shared] = promotion.Current{}
	}
	for path := range of.files[shared] {
		captured = s.matcher.captured(shared, path)
		break
	}
	inventory := of.index.Inventory(slices.Collect(maps.Keys(of.files[shared]))...)
	s.matcher.group(inventory, found)
	s.matcher.groupHolds(inventory, found)
	s.matcher.groupMentions(inventory, found)
	environment, _ := s.matcher.config.Environment(shared.Environment)
	s.matcher.addWritten(environment, found)
	for target, current := range found {
		if s.matcher.shared(target) != shared { // the inventory also has files of other environments
			continue
		}
		current.Refusals = append(current.Refusals, s.matcher.missingWrites(target, captured, func(file string) bool {
			return slices.ContainsFunc(s.matcher.targets(file), func(target promotion.Target) bool {
				_, exists := of.files[target][file]
				return exists
			})
		})...)
		read := func(file string) ([]byte, error) { return s.fileOf(of, shared, file).Read() }
		if current, found := s.matcher.limitShared(target, current, read); found {
			of.targets[target] = current
		}
	}
}

// examineAll sets all targets.
func (s *commitScanner) examineAll(of *snapshot) {
	of.targets = make(map[promotion.Target]promotion.Current, len(of.files))
	for target := range of.files {
		s.examine(of, target)
	}
}

// fileOf returns a file of a target, see matcher.shared.
func (s *commitScanner) fileOf(of *snapshot, shared promotion.Target, path string) updater.File {
	file := of.files[shared][path]
	return s.file(of.commit, s.repository.Entry(path, file.mode, file.id))
}

// newTree returns a tree over the files of a snapshot.
func (s *commitScanner) newTree(of *snapshot, targets currents) *Tree {
	tree := &Tree{Targets: targets, Others: of.others, limit: s.matcher.limitEdit, policy: s.matcher.policy}
	tree.reread = func(ctx context.Context, target promotion.Target) (promotion.Current, error) {
		return s.reread(ctx, of, target)
	}
	tree.contents = func(target promotion.Target) contents {
		target = s.matcher.shared(target)
		c := contents{
			inventory: of.index.Inventory(slices.Collect(maps.Keys(of.files[target]))...),
			files:     make(map[string]updater.File, len(of.files[target])),
		}
		for path := range of.files[target] {
			c.files[path] = s.fileOf(of, target, path)
		}
		return c
	}
	return tree
}

// reread returns what the files of a target of a snapshot say, read again from its commit.
func (s *commitScanner) reread(ctx context.Context, of *snapshot, target promotion.Target) (promotion.Current, error) {
	var found difference
	for path := range of.files[s.matcher.shared(target)] {
		file, err := s.repository.File(of.commit, path)
		switch {
		case fault.KindOf(err) == fault.NotFound:
		case err != nil:
			return promotion.Current{}, err
		default:
			found.files = append(found.files, file)
		}
	}
	again, err := s.next(ctx, s.empty(), of.commit, found)
	if err != nil {
		return promotion.Current{}, err
	}
	current := again.targets[target]
	current.Refusals = of.targets[target].Refusals // they may be about files of other targets
	return current, nil
}
