package landing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"promoter/internal/promotion"
	"promoter/internal/repo"
)

// This file compares what heads of pull requests bring. promoter writes a head again on a newer base: what it brings stays
// the same, and so do the approvals of its content. The objects of both heads prove that, or a seal: a head names those that it
// replaced, in trailers, which any user who can push can write too.

// TrailerReplaces names a head with the same content that a commit of promoter replaced, and its seal.
const TrailerReplaces = "Promoter-Replaces"

const (
	// maxReplaced is how many replaced heads a commit names, the newest.
	maxReplaced = 20
	// maxUpdates is how many merges of the base may be on a head of promoter.
	maxUpdates = 10
	// maxCompared is how many other heads are compared with one.
	maxCompared = 20
	// maxContent is how many bytes of files a head may bring to be sealed, and maxBrought how many files to be compared.
	maxContent = 32 << 20
	maxBrought = 1000
)

// origin returns the commit of promoter below merges of the base into its branch, and these merges, the newest first. It
// reads more history of the branch if that is needed.
func (r Reader) origin(ctx context.Context, branch string, head repo.Commit) (origin repo.Commit, merges []repo.Commit, err error) {
	for len(head.Parents) == 2 && len(merges) < maxUpdates {
		merges = append(merges, head)
		readable, err := r.ReadParent(ctx, branch, head)
		if err != nil || !readable {
			return repo.Commit{}, merges, err
		}
		if head, err = r.Objects.Commit(head.Parents[0]); err != nil {
			return repo.Commit{}, merges, err
		}
	}
	return head, merges, nil
}

// proposed is what a head brings: the versions in the trailers of its commit of promoter, and the files that differ from the
// base that it is on.
type proposed struct {
	head     string
	trailers []promotion.Trailer
	paths    []string // sorted
}

// versions returns the versions as lines, sorted.
func (p proposed) versions() []string {
	var lines []string
	for _, l := range promotion.ReadTrailers(p.trailers) {
		lines = append(lines, fmt.Sprintf("%q %q %q", l.Environment, l.Application, l.Snapshot.ID()))
	}
	slices.Sort(lines)
	return lines
}

// proposedBy returns what a head brings. It is one commit on the base, with merges of later commits of the base, and nothing else:
// then users who compare it with the base see exactly that. False: it is something else, or not readable.
func (r Reader) proposedBy(ctx context.Context, branch string, head repo.Commit, base, tip string) (p proposed, is bool, err error) {
	origin, merges, err := r.origin(ctx, branch, head)
	if err != nil || len(origin.Parents) != 1 {
		return p, false, repo.IgnoreNotFound(err)
	}
	// Each base is on the branch before the newer one. Otherwise, users compare with another commit than the one that counts here.
	after := tip
	for _, commit := range append(slices.Clone(merges), origin) { // the newest first
		parent := commit.Parents[len(commit.Parents)-1]
		if _, err := r.Objects.Commit(parent); err != nil {
			return p, false, repo.IgnoreNotFound(err)
		}
		if on, err := r.OnBranch(ctx, base, after, parent); err != nil || !on {
			return p, false, err
		}
		after = parent
	}
	p = proposed{head: head.ID, trailers: origin.Trailers}
	if p.paths, err = r.Objects.Changed(head.Parents[len(head.Parents)-1], head.ID); err != nil {
		return p, false, repo.IgnoreNotFound(err)
	}
	slices.Sort(p.paths)
	return p, len(p.versions()) > 0 && len(p.paths) > 0 && len(p.paths) <= maxBrought, nil
}

// WrittenIn returns the commit of promoter in a head of one of its branches: the head, or the one into which a forge, or a user,
// merged newer commits of the base, and nothing else. False: the head has work of a user.
func (r Reader) WrittenIn(ctx context.Context, branch string, head repo.Commit, base, tip string) (repo.Commit, bool, error) {
	if ours, err := r.wrote(ctx, branch, head); err != nil || ours {
		return head, ours, err
	}
	return r.updated(ctx, branch, head, base, tip)
}

// updated reports whether a head is one of promoter with merges of the base: what promoter writes on that base has the same
// files. It returns the commit of promoter.
func (r Reader) updated(ctx context.Context, branch string, head repo.Commit, base, tip string) (origin repo.Commit, is bool, err error) {
	origin, merges, err := r.origin(ctx, branch, head)
	if err != nil || len(merges) == 0 || len(origin.Parents) != 1 {
		return origin, false, repo.IgnoreNotFound(err)
	}
	if ours, err := r.wrote(ctx, branch, origin); err != nil || !ours {
		return origin, false, err
	}
	if _, err := r.Objects.Commit(head.Parents[1]); err != nil {
		return origin, false, repo.IgnoreNotFound(err)
	}
	if same, err := r.writesAgain(ctx, branch, onBase(head, origin)); err != nil || !same {
		return origin, false, err
	}
	for _, merge := range merges {
		if on, err := r.OnBranch(ctx, base, tip, merge.Parents[1]); err != nil || !on {
			return origin, false, err
		}
	}
	return origin, true, nil
}

// onBase returns a head as if it was written on the newest commit of the base that it has.
func onBase(head, origin repo.Commit) repo.Commit {
	written := origin
	written.ID, written.Tree = head.ID, head.Tree
	written.Parents = head.Parents[len(head.Parents)-1:]
	return written
}

// content returns a digest of what a head brings, for seals. It reads the files, so it is asked of heads that have those alone
// that promoter writes. Empty: they are too large.
func (r Reader) content(p proposed) string {
	files, room := map[string][]byte{}, int64(maxContent)
	for _, path := range p.paths {
		content, err := r.Objects.Read(p.head, path, room)
		if err != nil || int64(len(content)) > room {
			return "" // it was removed, which promoter never does, or is too large
		}
		files[path] = content
		room -= int64(len(content))
	}
	return digestOfContent(p, files)
}

// digestOfContent returns a digest of versions and files.
func digestOfContent(p proposed, files map[string][]byte) string {
	lines := p.versions()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		lines = append(lines, fmt.Sprintf("%q %x", path, sha256.Sum256(files[path])))
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// Replacing returns the trailers of a commit that replaces a head, with the trailers and files that it has: the heads with the same
// content and their seals, the newest last. There are none without keys, and where the content differs.
func (r Reader) Replacing(
	ctx context.Context, branch string, head repo.Commit, base, tip string, trailers []promotion.Trailer, files map[string][]byte,
) ([]promotion.Trailer, error) {
	if len(r.Seals) == 0 {
		return nil, nil
	}
	old, is, err := r.proposedBy(ctx, branch, head, base, tip)
	next := proposed{trailers: trailers, paths: slices.Sorted(maps.Keys(files))}
	if err != nil || !is || !slices.Equal(old.paths, next.paths) {
		return nil, err
	}
	content := r.content(old)
	if content == "" || content != digestOfContent(next, files) {
		return nil, nil
	}
	repository := string(r.Repository.Info().Key)
	var all []promotion.Trailer
	for _, replaced := range append(r.sealed(old, content), head.ID) {
		all = append(all, promotion.Trailer{Key: TrailerReplaces, Value: replaced + " " + r.Seals.Same(repository, replaced, content)})
	}
	return all[max(0, len(all)-maxReplaced):], nil
}

// sealed returns the heads that a head names with a seal of its content, the oldest first.
func (r Reader) sealed(p proposed, content string) []string {
	if content == "" {
		return nil
	}
	var all []string
	for _, trailer := range p.trailers {
		replaced, seal, _ := strings.Cut(trailer.Value, " ")
		if isReplaces(trailer) && len(all) < maxReplaced && r.Seals.VerifySame(seal, string(r.Repository.Info().Key), replaced, content) {
			all = append(all, replaced)
		}
	}
	return all
}

func isReplaces(trailer promotion.Trailer) bool {
	return strings.EqualFold(trailer.Key, TrailerReplaces)
}

// SameContent returns those of some heads that provably had the content of a head of promoter: a seal proves it, or both are on the
// base, bring the same files, and have the same versions and bytes in them.
func (r Reader) SameContent(
	ctx context.Context, branch string, head repo.Commit, base, tip string, others []string,
) (same []string, err error) {
	if len(others) == 0 {
		return nil, nil
	}
	now, is, err := r.proposedBy(ctx, branch, head, base, tip)
	if err != nil || !is {
		return nil, err
	}
	var sealed []string
	if len(r.Seals) > 0 && slices.ContainsFunc(now.trailers, isReplaces) {
		sealed = r.sealed(now, r.content(now))
	}
	for _, other := range others[:min(len(others), maxCompared)] {
		is := slices.Contains(sealed, other)
		if !is {
			if is, err = r.bringsTheSame(ctx, branch, now, other, base, tip); err != nil {
				return nil, err
			}
		}
		if is {
			same = append(same, other)
		}
	}
	return same, nil
}

// bringsTheSame reports whether another head brings the same as one, by the objects of both.
func (r Reader) bringsTheSame(ctx context.Context, branch string, now proposed, other, base, tip string) (bool, error) {
	commit, err := r.Objects.Commit(other)
	if err != nil {
		return false, repo.IgnoreNotFound(err)
	}
	then, is, err := r.proposedBy(ctx, branch, commit, base, tip)
	if err != nil || !is || !slices.Equal(then.paths, now.paths) || !slices.Equal(then.versions(), now.versions()) {
		return false, err
	}
	differ, err := r.Objects.Changed(then.head, now.head) // with the modes of files
	return err == nil && !slices.ContainsFunc(differ, func(path string) bool {
		_, brought := slices.BinarySearch(now.paths, path)
		return brought
	}), err
}
