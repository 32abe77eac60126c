package app

import (
	"context"
	"slices"
	"sync"

	"promoter/internal/config"
	"promoter/internal/updater"
)

// surveyor looks at the commits of a branch as one config wants it. What it saw
// last it keeps: another commit differs from that in a few files.
type surveyor struct {
	*follower
	files   gitFiles
	updater *updater.Updater
	mutex   sync.Mutex
	seen    []*gitTree // the latest first
}

func newSurveyor(f gitFiles, c *config.Config, environments []string) *surveyor {
	s := &surveyor{follower: newFollower(c, environments, nil), files: f}
	s.updater = updater.New(s.follower, updater.Options{MaxFileSize: f.maxSize, Writes: s.writes})
	return s
}

// maxSeen is how many trees are kept: those before and after a change, and one of
// another time.
const maxSeen = 3

// at returns the tree of a commit.
func (s *surveyor) at(ctx context.Context, commit string) (*gitTree, error) {
	root, err := s.files.objects.root(commit)
	if err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, tree := range s.seen {
		if tree.root == root && len(tree.survey.Unread()) == 0 {
			return tree, nil
		}
	}
	tree, err := s.look(ctx, commit)
	if err != nil {
		return nil, err
	}
	tree.commit, tree.root = commit, root
	s.seen = slices.Insert(s.seen, 0, tree)
	s.seen = s.seen[:min(len(s.seen), maxSeen)]
	return tree, nil
}

// look makes the tree of a commit out of the last one. Where that is of no use, it
// looks at all files.
func (s *surveyor) look(ctx context.Context, commit string) (*gitTree, error) {
	if len(s.seen) > 0 {
		last := s.seen[0]
		if d, err := s.files.objects.difference(last.commit, commit, last.survey.Unread()); err == nil {
			return last.next(ctx, d)
		}
	}
	entries, err := s.files.objects.entries(ctx, commit)
	if err != nil {
		return nil, err
	}
	return newGitTree(s).next(ctx, difference{now: withoutConfig(entries), at: s.files.objects.at(commit)})
}
