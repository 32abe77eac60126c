// Package statebranch reads and writes the branch promoter/_state: what of it counts, by the
// seals of its commits, what it lost when it was deleted or moved back, and the decisions of
// users.
package statebranch

import (
	"context"
	"fmt"
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

// Authenticates reports whether all that loosens something on the branch is by promoter or by
// a user with the key.
func Authenticates(s Seals) bool { return len(s.Keys) > 0 || s.Protected }

// Limits of the search for seals, in commits.
const (
	maxUnsealed = 1000 // above the newest seal
	maxMarks    = 100  // of each branch of environments
)

// unsealedHistory is how far back the history of the state branch is read, step by step.
var unsealedHistory = []time.Duration{24 * time.Hour, 30 * 24 * time.Hour, 20 * 365 * 24 * time.Hour}

// Head is the state branch as it was read.
type Head struct {
	head     string
	files    state.State // as they are
	Counts   state.State // what of them counts
	Ignored  []state.Ignored
	seal     SealedCommit // the newest one that is known
	memory   SealedCommit // the one that is remembered outside of the repository
	Sealed   bool         // the head has a seal of the first key, or needs none
	Restored string       // what was restored; empty: nothing
	// Lost is why nothing is done until an administrator confirms the branch; empty: it is complete.
	Lost string
	// WithoutKey is why none of it is authentic: it has seals, and there is no key.
	WithoutKey error
}

// restricted returns why nothing on the branch may loosen anything; nil: it may.
func (b Head) restricted() error {
	if b.WithoutKey == nil && b.Lost != "" {
		return fault.New(fault.Invalid, "%s", b.Lost)
	}
	return b.WithoutKey
}

// Branch reads and writes the state branch.
type Branch struct {
	Remote  repo.Remote
	Objects repo.Objects
	Seals   Seals
	By      repo.Signature // of our commits
	DryRun  bool           // nothing is pushed
	Now     func() time.Time
	Pause   func(ctx context.Context, attempt int) error // before a restart
	// Locate returns the changes that record where the targets of new decisions are. Nil: the next reconciliation does.
	Locate func(ctx context.Context, before, after state.State) []state.Change
}

// Read reads a head of the branch; empty: there is none. The commits of the environments'
// branches show how far the branch was.
func (s Branch) Read(ctx context.Context, head string, environments []string) (Head, error) {
	b := Head{head: head, Sealed: true}
	var err error
	if b.files, err = readState(s.Objects, head); err != nil {
		return b, err
	}
	b.Counts = b.files
	if s.Seals.Protected {
		return b, nil
	}
	if len(s.Seals.Keys) == 0 {
		b.WithoutKey = s.missingKey(head)
		return b, nil
	}
	if problem := s.unlisted(b.files); problem != "" {
		b.Lost = problem
		return b, nil
	}

	// The newest seal of the branch, and the newest one that anything else shows.
	if s.Seals.Memory != nil {
		if b.memory, err = s.Seals.Memory.Newest(ctx); err != nil {
			return b, fmt.Errorf("read which commit of %s was sealed last: %w", state.Branch, err)
		}
	}
	known := b.memory
	found, current, err := s.newest(ctx, head)
	if err != nil {
		return b, err
	}
	marked := s.newestMark(environments)
	b.seal, b.Sealed = found, head == "" || current && found.Commit == head
	if found.Counter < known.Counter && known.Counter >= marked {
		commit, err := s.Objects.Commit(known.Commit)
		if last, ok := s.verify(commit); err == nil && ok && last.Counter == known.Counter {
			b.seal, b.Sealed = known, false
			b.Restored = fmt.Sprintf("it was deleted or moved back; what counted in its commit %.7s is restored", known.Commit)
		}
	}
	if newest := max(known.Counter, marked); b.seal.Counter < newest {
		b.Lost = fmt.Sprintf("%s was deleted or moved back: its newest seal is %d, and there was one with %d. %s",
			state.Branch, b.seal.Counter, newest, lostAdvice)
		b.seal.Counter, b.Sealed = newest, false // of the next one: more than any before
	}
	if b.Sealed {
		return b, nil
	}
	sealed, err := readState(s.Objects, b.seal.Commit)
	if err != nil {
		return b, err
	}
	first := b.seal.Counter == 0
	switch {
	case first:
		sealed = state.Bookkeeping(b.files)
	case b.seal.Commit == "": // the key is another one, or all sealed commits are lost
		sealed = state.SetTimesAside(b.files)
	}
	b.Counts, b.Ignored = state.Authentic(sealed, b.files, s.Now())
	if first { // times that were observed without a key begin again, unless an administrator adopts them
		b.Ignored = slices.DeleteFunc(b.Ignored, state.Ignored.OnlyObserved)
	}
	return b, nil
}

const lostAdvice = "Holds, freezes, and rejections may be lost. " +
	"Add them again, then confirm the branch with 'promoter confirm-state'"

// unlisted returns why the files of the branch cannot be listed. Sealing such a commit
// would lose what its predecessor has.
func (Branch) unlisted(files state.State) string {
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
func (s Branch) missingKey(head string) error {
	if head == "" || !s.hasFile(head) {
		return nil
	}
	return fault.New(fault.Unauthorized, "%s has seals, and no key is set: "+
		"set seal.keys in the server file, or PROMOTER_SEAL_KEY, to the key that made them", state.Branch)
}

// newest returns the newest sealed commit of the first-parent history of a head, and
// whether the first key made it.
func (s Branch) newest(ctx context.Context, head string) (found SealedCommit, current bool, err error) {
	if head == "" {
		return SealedCommit{}, false, nil
	}
	for step := 0; ; step++ {
		cut := false
		for commit, err := range repo.FirstParents(s.Objects, head, maxUnsealed) {
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
		if err := s.Remote.Deepen(ctx, state.Branch, s.Now().Add(-unsealedHistory[step])); err != nil {
			return SealedCommit{}, false, fmt.Errorf("read the history of %s: %w", state.Branch, err)
		}
	}
}

// verify verifies the seal of a commit.
func (s Branch) verify(commit repo.Commit) (seal.Seal, bool) {
	value := trailer(commit, seal.Trailer)
	if value == "" || len(commit.Parents) > 1 {
		return seal.Seal{}, false
	}
	return s.Seals.Keys.Verify(value, s.bound(commit, 0))
}

// bound is what the seal of a commit binds.
func (s Branch) bound(commit repo.Commit, counter uint64) seal.Commit {
	text := commit.Message
	if i := strings.LastIndex(text, "\n"+seal.Trailer+": "); i >= 0 {
		text = text[:i]
	}
	return seal.Commit{
		Repository: s.Seals.Repository, Counter: counter, Tree: commit.Tree,
		Parent: strings.Join(commit.Parents, " "), Message: text,
	}
}

// newestMark returns the highest counter that a commit of the branches names.
func (s Branch) newestMark(heads []string) (newest uint64) {
	for _, head := range heads {
		for commit, err := range repo.FirstParents(s.Objects, head, maxMarks) {
			if err != nil {
				break
			}
			commits := []repo.Commit{commit}
			if len(commit.Parents) == 2 { // the head of a merged pull request
				if merged, err := s.Objects.Commit(commit.Parents[1]); err == nil {
					commits = append(commits, merged)
				}
			}
			for _, one := range commits {
				if counter, ok := s.Seals.Keys.VerifyMark(s.Seals.Repository, trailer(one, seal.MarkTrailer)); ok {
					newest = max(newest, counter)
				}
			}
		}
	}
	return newest
}

// Draft makes the commit that turns what counts into another state, sealed if there is a
// key. The update is empty when there is nothing to write. A seal does not include the
// signature of the commit, which covers the seal.
func (s Branch) Draft(ctx context.Context, b Head, after state.State, message string, sealed bool) (repo.Update, Head, error) {
	files := after.Diff(b.files)
	if len(files) == 0 && (b.Sealed || !sealed) {
		return repo.Update{}, b, nil
	}
	if sealed && (b.head == "" || !s.hasFile(b.head)) {
		files[sealedFile] = []byte(sealedText)
	}
	by := s.By
	by.When = s.Now()
	draft := repo.Draft{Parent: b.head, Files: files, By: by, Message: message + "\n"}
	commit, err := s.write(ctx, draft, b.seal.Counter+1, sealed)
	if err != nil {
		return repo.Update{}, b, fmt.Errorf("write %s: %w", state.Branch, err)
	}
	if sealed {
		b.seal = SealedCommit{Counter: b.seal.Counter + 1, Commit: commit}
		b.Ignored = nil
		b.Restored = ""
	}
	b.Sealed = sealed
	update := repo.Update{Branch: state.Branch, Old: b.head, New: commit}
	b.head = commit
	b.files = after
	b.Counts = after
	return update, b, nil
}

// write writes a draft, with a seal of the counter if it is sealed, as it is to be pushed. The seal
// is of the commit that the draft is without it.
func (s Branch) write(ctx context.Context, draft repo.Draft, counter uint64, sealed bool) (string, error) {
	id, err := s.Objects.Write(draft)
	if err == nil && sealed {
		unsealed, readErr := s.Objects.Commit(id) // for its tree
		if readErr != nil {
			return "", readErr
		}
		draft.Trailers = []promotion.Trailer{{Key: seal.Trailer, Value: s.Seals.Keys.Seal(s.bound(unsealed, counter))}}
		id, err = s.Objects.Write(draft)
	}
	if err != nil {
		return "", err
	}
	return s.Remote.Sign(ctx, id)
}

func (s Branch) hasFile(commit string) bool {
	_, err := s.Objects.Read(commit, sealedFile, int64(len(sealedText)))
	return fault.KindOf(err) != fault.NotFound
}

// IsSealed reports whether commits of the state branch get a seal.
func (s Branch) IsSealed() bool { return len(s.Seals.Keys) > 0 && !s.Seals.Protected }

// Marks returns the trailers of a commit that lands while the branch has a seal.
func (s Branch) Marks(b Head) []promotion.Trailer {
	if !s.IsSealed() || b.seal.Counter == 0 {
		return nil
	}
	return []promotion.Trailer{{Key: seal.MarkTrailer, Value: s.Seals.Keys.Mark(s.Seals.Repository, b.seal.Counter)}}
}

// Remember remembers the newest seal outside of the repository.
func (s Branch) Remember(ctx context.Context, b Head) error {
	if !s.IsSealed() || s.Seals.Memory == nil || b.seal.Commit == "" || !b.Sealed || b.memory == b.seal {
		return nil
	}
	return s.Seals.Memory.Remember(ctx, b.seal)
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

// IgnoredText lists what has no effect, the first few.
func IgnoredText(ignored []state.Ignored) string {
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

// readState reads a commit of the state branch; empty: there is none.
func readState(objects repo.Contents, commit string) (state.State, error) {
	if commit == "" {
		return state.State{}, nil
	}
	read, err := state.Read(objects.All(commit))
	if err != nil {
		return state.State{}, fmt.Errorf("read %s: %w", state.Branch, err)
	}
	return read, nil
}
