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
// the same, and so do the approvals of its content. The new head names those that it replaces, in trailers. Any user who can
// push can write these too, so they prove nothing: that the contents are equal, a seal proves, or the objects of both heads.

// TrailerReplaces names a head with the same content that a commit of promoter replaced, and may have a seal.
const TrailerReplaces = "Promoter-Replaces"

const (
	// maxReplaced is how many replaced heads a commit names, the newest.
	maxReplaced = 20
	// maxUpdates is how many merges of the base may be on a head of promoter.
	maxUpdates = 10
	// maxContent is how many bytes of files a head may bring to be compared, and maxChanged how many files.
	maxContent = 32 << 20
	maxChanged = 10_000
)

// origin returns the commit of promoter below merges of the base into its branch, and these merges, the newest first.
func (r Reader) origin(head repo.Commit) (origin repo.Commit, merges []repo.Commit, err error) {
	for len(head.Parents) == 2 && len(merges) < maxUpdates {
		merges = append(merges, head)
		if head, err = r.Objects.Commit(head.Parents[0]); err != nil {
			return head, merges, err
		}
	}
	return head, merges, nil
}

// Updated reports whether a head is one of promoter into which a forge, or a user, merged newer commits of the base, and
// nothing else: what promoter writes on that base has the same files. It returns the commit of promoter.
func (r Reader) Updated(ctx context.Context, branch string, head repo.Commit, base, tip string) (origin repo.Commit, is bool, err error) {
	origin, merges, err := r.origin(head)
	if err != nil || len(merges) == 0 || len(origin.Parents) != 1 {
		return origin, false, repo.IgnoreNotFound(err)
	}
	if ours, err := r.Wrote(ctx, branch, origin); err != nil || !ours {
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

// contentOf returns a digest of what a head brings: its versions, the files that differ from its base, and their content.
// Empty: it is not readable, or no head of promoter.
func (r Reader) contentOf(head repo.Commit) string {
	origin, _, err := r.origin(head)
	if err != nil || len(origin.Parents) != 1 {
		return ""
	}
	base := onBase(head, origin).Parents[0]
	if _, err := r.Objects.Commit(base); err != nil {
		return ""
	}
	changed, err := r.Objects.Changed(base, head.ID)
	if err != nil || len(changed) > maxChanged {
		return ""
	}
	files, room := map[string][]byte{}, int64(maxContent)
	for _, path := range changed {
		content, err := r.Objects.Read(head.ID, path, room)
		if err != nil || int64(len(content)) > room {
			return "" // it was removed, which promoter never does, or is too large
		}
		files[path] = content
		room -= int64(len(content))
	}
	return digestOfContent(origin.Trailers, files)
}

// digestOfContent returns a digest of versions and files. Empty: there are none.
func digestOfContent(trailers []promotion.Trailer, files map[string][]byte) string {
	landed := promotion.ReadTrailers(trailers)
	if len(landed) == 0 || len(files) == 0 {
		return ""
	}
	var lines []string
	for _, l := range landed {
		lines = append(lines, fmt.Sprintf("%q %q %q", l.Environment, l.Application, l.Snapshot.ID()))
	}
	slices.Sort(lines)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		lines = append(lines, fmt.Sprintf("%q %x", path, sha256.Sum256(files[path])))
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// Replacing returns the trailers of a commit that replaces a head, with the trailers and files that it has: the
// heads with the same content, the newest last. There are none where the content differs, or where the head is on no base.
func (r Reader) Replacing(
	ctx context.Context, head repo.Commit, base, tip string, trailers []promotion.Trailer, files map[string][]byte,
) ([]promotion.Trailer, error) {
	content := digestOfContent(trailers, files)
	if content == "" || r.contentOf(head) != content {
		return nil, nil
	}
	origin, merges, err := r.origin(head)
	if err != nil {
		return nil, err
	}
	for _, commit := range append(slices.Clone(merges), origin) {
		if on, err := r.OnBranch(ctx, base, tip, onBase(commit, origin).Parents[0]); err != nil || !on {
			return nil, err
		}
	}
	var all []promotion.Trailer
	for _, replaced := range append(r.SameContent(head), head.ID) {
		value := replaced
		if len(r.Seals) > 0 {
			value += " " + r.Seals.Same(string(r.Repository.Info().Key), replaced, content)
		}
		all = append(all, promotion.Trailer{Key: TrailerReplaces, Value: value})
	}
	return all[max(0, len(all)-maxReplaced):], nil
}

// SameContent returns the earlier heads that a head replaced and that provably had the same content, the oldest first.
func (r Reader) SameContent(head repo.Commit) []string {
	content := r.contentOf(head)
	origin, merges, err := r.origin(head)
	if content == "" || err != nil {
		return nil
	}
	var same []string
	read := 0
	for _, trailer := range origin.Trailers {
		if !strings.EqualFold(trailer.Key, TrailerReplaces) {
			continue
		}
		if read++; read > maxReplaced {
			break
		}
		replaced, seal, _ := strings.Cut(trailer.Value, " ")
		if r.Seals.VerifySame(seal, string(r.Repository.Info().Key), replaced, content) || r.hadContent(replaced, content) {
			same = append(same, replaced)
		}
	}
	slices.Reverse(merges)
	for _, commit := range append([]repo.Commit{origin}, merges...) {
		if commit.ID != head.ID && r.contentOf(commit) == content {
			same = append(same, commit.ID)
		}
	}
	return same
}

// hadContent reports whether a commit that is readable has a content.
func (r Reader) hadContent(id, content string) bool {
	commit, err := r.Objects.Commit(id)
	return err == nil && r.contentOf(commit) == content
}
