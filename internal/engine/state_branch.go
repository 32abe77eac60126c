package engine

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/seal"
	"promoter/internal/state"
)

// Seals decide what on the state branch counts. Any user who may push that branch can
// write a request in the name of another, or remove a hold. So promoter seals its own
// commits, and of others only what stops more counts: see state.Authentic.
type Seals struct {
	Keys       seal.Keys // none: everything on the branch counts
	Repository string    // the key of the repository, which its seals name
	// Memory remembers the newest sealed commit outside of the repository. Nil: only
	// commits that landed show that the branch was moved back.
	Memory SealMemory
	// Protected: only promoter may push the branch, so everything on it counts.
	Protected bool
}

// SealMemory remembers the newest sealed commit of one state branch.
type SealMemory interface {
	Newest(ctx context.Context) (SealedCommit, error)
	Remember(ctx context.Context, newest SealedCommit) error
}

// SealedCommit is a sealed commit of the state branch. Its zero value is none.
type SealedCommit struct {
	Counter uint64 `json:"counter"`
	Commit  string `json:"commit"`
}

// Limits of the search for seals, in commits.
const (
	maxUnsealed = 1000 // above the newest seal
	maxMarks    = 100  // of each branch of environments
)

// unsealedHistory is how far back the history of the state branch is read, step by step.
var unsealedHistory = []time.Duration{24 * time.Hour, 30 * 24 * time.Hour, 20 * 365 * 24 * time.Hour}

// stateBranch is the state branch as it was read.
type stateBranch struct {
	head     string
	files    state.State // as they are
	counts   state.State // what of them counts
	ignored  []state.Ignored
	seal     SealedCommit // the newest one that is known
	memory   SealedCommit // the one that is remembered outside of the repository
	sealed   bool         // the head has a seal of the first key, or needs none
	restored string       // what was restored; empty: nothing
	// lost is why nothing is done until a user confirms the branch; empty: it is complete.
	lost string
	// withoutKey is why none of it is authentic: it has seals, and there is no key.
	withoutKey error
}

// restricted returns why nothing on the branch may loosen anything; nil: it may.
func (b stateBranch) restricted() error {
	if b.withoutKey == nil && b.lost != "" {
		return fault.New(fault.Invalid, "%s", b.lost)
	}
	return b.withoutKey
}

// stateReader reads and writes the state branch.
type stateReader struct{ r *Reconciler }

// read reads a head of the branch; empty: there is none. The commits of the environments'
// branches show how far the branch was.
func (s stateReader) read(ctx context.Context, head string, environments []string) (stateBranch, error) {
	b := stateBranch{head: head, sealed: true}
	var err error
	if b.files, err = readState(s.r.Objects, head); err != nil {
		return b, err
	}
	b.counts = b.files
	if s.r.Seals.Protected {
		return b, nil
	}
	if len(s.r.Seals.Keys) == 0 {
		b.withoutKey = s.missingKey(head)
		return b, nil
	}
	if problem := s.unlisted(b.files); problem != "" {
		b.lost = problem
		return b, nil
	}

	// The newest seal of the branch, and the newest one that anything else shows.
	if s.r.Seals.Memory != nil {
		if b.memory, err = s.r.Seals.Memory.Newest(ctx); err != nil {
			return b, fmt.Errorf("read which commit of %s was sealed last: %w", state.Branch, err)
		}
	}
	known := b.memory
	found, current, err := s.newest(ctx, head)
	if err != nil {
		return b, err
	}
	marked := s.newestMark(environments)
	b.seal, b.sealed = found, head == "" || current && found.Commit == head
	if found.Counter < known.Counter && known.Counter >= marked {
		commit, err := s.r.Objects.Commit(known.Commit)
		if last, ok := s.verify(commit); err == nil && ok && last.Counter == known.Counter {
			b.seal, b.sealed = known, false
			b.restored = fmt.Sprintf("it was deleted or moved back; what counted in its commit %.7s is restored", known.Commit)
		}
	}
	if newest := max(known.Counter, marked); b.seal.Counter < newest {
		b.lost = fmt.Sprintf("%s was deleted or moved back: its newest seal is %d, and there was one with %d. Holds, freezes, and rejections may be lost. "+
			"Add them again, then confirm the branch with 'promoter resume' without --env", state.Branch, b.seal.Counter, newest)
		b.seal.Counter, b.sealed = newest, false // of the next one: more than any before
	}
	if b.sealed {
		return b, nil
	}
	sealed, err := readState(s.r.Objects, b.seal.Commit)
	if err != nil {
		return b, err
	}
	first := b.seal.Counter == 0
	if first {
		sealed = state.Bookkeeping(b.files)
	}
	b.counts, b.ignored = state.Authentic(sealed, b.files, s.r.Now())
	if first { // times that were observed without a key begin again
		b.ignored = slices.DeleteFunc(b.ignored, state.Ignored.OnlyObserved)
	}
	return b, nil
}

// unlisted returns why the files of the branch cannot be listed. Sealing such a commit
// would lose what its predecessor has.
func (stateReader) unlisted(files state.State) string {
	for _, problem := range files.Problems() {
		if problem.Target == (state.Target{Environment: state.All, Application: state.All}) {
			return fmt.Sprintf("%s: repair or delete the file on the branch", problem)
		}
	}
	return ""
}

// sealedFile tells readers of a branch with seals, and commands without the key, about
// them. It is no proof.
const sealedFile = "SEALED.md"

const sealedText = `# The state of promoter

promoter writes this branch. Its commits have a seal, the trailer ` + seal.Trailer + `, that only
the key of the operator can make. Of other commits, only holds, freezes, and rejections count.
`

// missingKey returns the error of a branch that has seals where there is no key: its owner
// trusts no commit without one.
func (s stateReader) missingKey(head string) error {
	if head == "" || !s.hasFile(head) {
		return nil
	}
	return fault.New(fault.Unauthorized, "%s has seals, and no key is set: set seal.keys in the server file, or PROMOTER_SEAL_KEY, to the key that made them", state.Branch)
}

// newest returns the newest sealed commit of the first-parent history of a head, and
// whether the first key made it.
func (s stateReader) newest(ctx context.Context, head string) (found SealedCommit, current bool, err error) {
	if head == "" {
		return SealedCommit{}, false, nil
	}
	for step := 0; ; step++ {
		cut := false
		for commit, err := range limited(s.r.Objects.History(head), maxUnsealed) {
			if err != nil {
				return SealedCommit{}, false, fmt.Errorf("read the history of %s: %w", state.Branch, err)
			}
			if sealed, ok := s.verify(commit); ok {
				return SealedCommit{Counter: sealed.Counter, Commit: commit.ID}, sealed.Current, nil
			}
			cut = commit.Shallow
		}
		if !cut || step == len(unsealedHistory) {
			return SealedCommit{}, false, nil
		}
		if err := s.r.Remote.Deepen(ctx, state.Branch, s.r.Now().Add(-unsealedHistory[step])); err != nil {
			return SealedCommit{}, false, fmt.Errorf("read the history of %s: %w", state.Branch, err)
		}
	}
}

// verify verifies the seal of a commit.
func (s stateReader) verify(commit repo.Commit) (seal.Seal, bool) {
	value := trailer(commit, seal.Trailer)
	if value == "" || len(commit.Parents) > 1 {
		return seal.Seal{}, false
	}
	return s.r.Seals.Keys.Verify(value, s.bound(commit, 0))
}

// bound is what the seal of a commit binds.
func (s stateReader) bound(commit repo.Commit, counter uint64) seal.Commit {
	text := commit.Message
	if i := strings.LastIndex(text, "\n"+seal.Trailer+": "); i >= 0 {
		text = text[:i]
	}
	return seal.Commit{
		Repository: s.r.Seals.Repository, Counter: counter, Tree: commit.Tree,
		Parent: strings.Join(commit.Parents, " "), Message: text,
	}
}

// newestMark returns the highest counter that a commit of the branches names.
func (s stateReader) newestMark(heads []string) (newest uint64) {
	for _, head := range heads {
		for commit, err := range limited(s.r.Objects.History(head), maxMarks) {
			if err != nil {
				break
			}
			commits := []repo.Commit{commit}
			if len(commit.Parents) == 2 { // the head of a merged pull request
				if merged, err := s.r.Objects.Commit(commit.Parents[1]); err == nil {
					commits = append(commits, merged)
				}
			}
			for _, one := range commits {
				if counter, ok := s.r.Seals.Keys.VerifyMark(s.r.Seals.Repository, trailer(one, seal.MarkTrailer)); ok {
					newest = max(newest, counter)
				}
			}
		}
	}
	return newest
}

// draft makes the commit that turns what counts into another state, sealed if there is a
// key. The update is empty when there is nothing to write.
func (s stateReader) draft(b stateBranch, after state.State, message string, sealed bool) (repo.Update, stateBranch, error) {
	files := after.Diff(b.files)
	if len(files) == 0 && (b.sealed || !sealed) {
		return repo.Update{}, b, nil
	}
	if sealed && (b.head == "" || !s.hasFile(b.head)) {
		files[sealedFile] = []byte(sealedText)
	}
	draft := repo.Draft{Parent: b.head, Files: files, By: s.r.signature(), Message: message + "\n"}
	commit, err := s.r.Objects.Write(draft)
	if sealed && err == nil {
		b.seal.Counter++
		commit, err = s.addSeal(draft, commit, b.seal.Counter)
		b.seal.Commit, b.ignored, b.restored = commit, nil, ""
	}
	if err != nil {
		return repo.Update{}, b, fmt.Errorf("write %s: %w", state.Branch, err)
	}
	b.sealed = sealed
	update := repo.Update{Branch: state.Branch, Old: b.head, New: commit}
	b.head, b.files, b.counts = commit, after, after
	return update, b, nil
}

func (s stateReader) hasFile(commit string) bool {
	_, err := s.r.Objects.Read(commit, sealedFile, int64(len(sealedText)))
	return fault.KindOf(err) != fault.NotFound
}

// addSeal writes a draft again, with the seal of the commit that it was without.
func (s stateReader) addSeal(draft repo.Draft, unsealed string, counter uint64) (string, error) {
	commit, err := s.r.Objects.Commit(unsealed) // for its tree
	if err != nil {
		return "", err
	}
	draft.Trailers = []promotion.Trailer{{Key: seal.Trailer, Value: s.r.Seals.Keys.Seal(s.bound(commit, counter))}}
	return s.r.Objects.Write(draft)
}

// seals reports whether commits of the state branch get a seal.
func (s stateReader) seals() bool { return len(s.r.Seals.Keys) > 0 && !s.r.Seals.Protected }

// marks returns the trailers of a commit that lands while the branch has a seal.
func (s stateReader) marks(b stateBranch) []promotion.Trailer {
	if !s.seals() || b.seal.Counter == 0 {
		return nil
	}
	return []promotion.Trailer{{Key: seal.MarkTrailer, Value: s.r.Seals.Keys.Mark(s.r.Seals.Repository, b.seal.Counter)}}
}

// remember remembers the newest seal outside of the repository.
func (s stateReader) remember(ctx context.Context, b stateBranch) error {
	if !s.seals() || s.r.Seals.Memory == nil || b.seal.Commit == "" || !b.sealed || b.memory == b.seal {
		return nil
	}
	return s.r.Seals.Memory.Remember(ctx, b.seal)
}

// trailer returns the last value of a trailer; empty: the commit has none.
func trailer(commit repo.Commit, key string) (value string) {
	for _, one := range commit.Trailers {
		if one.Key == key {
			value = one.Value
		}
	}
	return value
}

// limited yields the first elements of a history.
func limited(history iter.Seq2[repo.Commit, error], most int) iter.Seq2[repo.Commit, error] {
	return func(yield func(repo.Commit, error) bool) {
		for commit, err := range history {
			if most--; !yield(commit, err) || most == 0 {
				return
			}
		}
	}
}

// ignoredText lists what has no effect, the first few.
func ignoredText(ignored []state.Ignored) string {
	const most = 5
	var texts []string
	for _, one := range ignored[:min(most, len(ignored))] {
		texts = append(texts, one.String())
	}
	if more := len(ignored) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(slices.Compact(texts), "; ")
}
