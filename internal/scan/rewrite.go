package scan

import (
	"context"
	"runtime"
	"slices"

	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/parallel"
	"promoter/internal/promotion"
	"promoter/internal/updater"
)

// Edit asks for other versions in one target of a tree.
type Edit struct {
	Tree   *Tree
	Target promotion.Target
	Moves  []promotion.Move
	// Tentative edits are only shown: edits after them do not build on them.
	Tentative bool
}

// Rewritten is a target after an edit. An edit is made whole or not at all: with refusals
// there are no files.
type Rewritten struct {
	Files    []FileChange // sorted by path
	Changes  []edit.Change
	Refusals []edit.Refusal // of the edit, and those of the scan that stop it
	Notes    []edit.Note
}

// FileChange is a file before and after an edit.
type FileChange struct {
	Path          string
	Before, After []byte
}

// foreignTag is a tag of another line of versions than that of a component.
type foreignTag struct{ component, tag string }

// fileEdit is the part of an edit that is about one file.
type fileEdit struct {
	edit     int // index
	file     updater.File
	contents contents
	foreign  map[foreignTag]bool
	versions map[string]image.Version // by component
	before   []byte
	result   updater.Result
}

// Rewrite makes the edits in memory and returns one result for each. Environments
// may share a file if they follow different components in it: each edit starts from
// what the edits before it made of the file.
func Rewrite(ctx context.Context, edits ...Edit) ([]Rewritten, error) {
	results := make([]Rewritten, len(edits))
	var jobs []*fileEdit
	for i, e := range edits {
		files, err := e.files(i)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, files...)
	}

	err := parallel.ForEach(runtime.GOMAXPROCS(0), jobs, func(job *fileEdit) error {
		before, err := job.file.Read()
		if err != nil {
			job.result.Refusals = []edit.Refusal{{File: job.file.Path, Reason: "cannot be read again: " + err.Error()}}
			return ctx.Err()
		}
		job.before = before
		job.rewrite(ctx)
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	changed := make([][]string, len(edits)) // components
	for _, job := range jobs {
		e := edits[job.edit]
		refused := e.Tree.limit(promotion.Current{References: e.Tree.Targets[e.Target].References, Refusals: job.result.Refusals})
		results[job.edit].Refusals = append(results[job.edit].Refusals, refused.Refusals...)
		for _, change := range job.result.Changes {
			changed[job.edit] = append(changed[job.edit], change.Component)
		}
	}
	for i, e := range edits {
		results[i].Refusals = slices.Concat(e.stoppedBy(changed[i]), results[i].Refusals)
	}

	type sharedFile struct {
		tree *Tree
		path string
	}
	latest := map[sharedFile][]byte{}
	for _, job := range jobs {
		e, result := edits[job.edit], &results[job.edit]
		if len(result.Refusals) > 0 {
			continue
		}
		if !e.Tentative && job.result.Content != nil {
			at := sharedFile{e.Tree, job.file.Path}
			if content, ok := latest[at]; ok {
				job.before = content
				job.rewrite(ctx)
				if refused := job.result.Refusals; len(refused) > 0 {
					return nil, fault.New(fault.Internal, "%s cannot be written after another environment: %s",
						job.file.Path, refused[0].Reason)
				}
			}
			latest[at] = job.result.Content
		}
		result.Changes = append(result.Changes, job.result.Changes...)
		result.Notes = append(result.Notes, job.result.Notes...)
		if job.result.Content != nil {
			result.Files = append(result.Files, FileChange{Path: job.file.Path, Before: job.before, After: job.result.Content})
		}
	}
	return results, nil
}

// stoppedBy returns the refusals of the scan that stop the edit: those of a component that it
// changes, and those that stop the target as a whole.
func (e Edit) stoppedBy(changed []string) []edit.Refusal {
	return slices.DeleteFunc(slices.Clone(e.Tree.Targets[e.Target].Refusals), func(r edit.Refusal) bool {
		return len(r.Unaffected) > 0 && !slices.ContainsFunc(changed, r.Stops)
	})
}

// files returns the files with a reference that moves, sorted by path.
func (e Edit) files(index int) ([]*fileEdit, error) {
	versions := make(map[string]image.Version, len(e.Moves))
	for _, move := range e.Moves {
		versions[move.Component] = e.Tree.named(e.Target, move)
	}
	var paths []string
	current := e.Tree.Targets[e.Target]
	for _, reference := range slices.Concat(current.References, current.Derived) {
		if _, moves := versions[reference.Component]; moves {
			paths = append(paths, reference.Position.File)
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	slices.Sort(paths)
	contents := e.Tree.contents(e.Target)
	foreign := map[foreignTag]bool{}
	for _, f := range e.Tree.Targets[e.Target].Foreign {
		foreign[foreignTag{f.Component, f.Tag}] = true
	}
	var files []*fileEdit
	for _, path := range slices.Compact(paths) {
		file, ok := contents.files[path]
		if !ok {
			return nil, fault.New(fault.Internal, "%s has a reference and was not scanned", path)
		}
		files = append(files, &fileEdit{edit: index, file: file, contents: contents, foreign: foreign, versions: versions})
	}
	return files, nil
}

// rewrite sets the result from the bytes before.
func (f *fileEdit) rewrite(ctx context.Context) {
	file := f.file
	file.Read = func() ([]byte, error) { return f.before, nil }
	wanted := func(component string) (image.Version, bool) {
		version, moves := f.versions[component]
		return version, moves
	}
	f.result = f.contents.inventory.RewriteOwn(ctx, file, wanted, func(component, tag string) bool {
		return f.foreign[foreignTag{component, tag}]
	})
}
