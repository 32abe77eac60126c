package benchworld

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Plumbing is what a careful person would script with Git's own commands, for a new version of
// an image: a bare clone, and no command more than once for an event.
type Plumbing struct {
	Clone string // the folder of the clone

	scratch, image string
	files          int
}

// NewPlumbing clones a repository into an empty folder. So many of its files have the image.
func NewPlumbing(ctx context.Context, url, folder, image string, files int) (*Plumbing, error) {
	p := &Plumbing{Clone: filepath.Join(folder, "clone.git"), scratch: folder, image: image, files: files}
	s := script{Plumbing: p, ctx: ctx, folder: folder}
	s.git("", "clone", "-q", "--bare", url, p.Clone)
	s.folder = p.Clone
	for _, setting := range []string{"gc.auto=0", "receive.autogc=false", "maintenance.auto=false"} {
		key, value, _ := strings.Cut(setting, "=")
		s.git("", "config", key, value)
	}
	return p, s.err
}

// Event fetches, finds the files, writes the tag into them, commits all of them at once, and
// pushes.
func (p *Plumbing) Event(ctx context.Context, tag string) error {
	s := script{Plumbing: p, ctx: ctx, folder: p.Clone}
	s.git("", "fetch", "-q", "origin", "+refs/heads/main:refs/heads/main")
	var paths, names []string
	for line := range strings.Lines(s.git("", "grep", "-lF", "-e", p.image, "main")) {
		name := strings.TrimSuffix(line, "\n")
		names, paths = append(names, name), append(paths, strings.TrimPrefix(name, "main:"))
	}
	if len(paths) != p.files {
		return errors.Join(s.err, fmt.Errorf("%d files have the image, want %d", len(paths), p.files))
	}
	ids := s.rewrite(names, tag)
	s.git("", "read-tree", "main")
	update := []string{"update-index"}
	for i, id := range ids {
		update = append(update, "--cacheinfo", "100644,"+id+","+paths[i])
	}
	s.git("", update...)
	tree := strings.TrimSpace(s.git("", "write-tree"))
	commit := strings.TrimSpace(s.git("", "commit-tree", tree, "-p", "main", "-m", "New image"))
	s.git("", "push", "-q", "origin", commit+":refs/heads/main")
	return s.err
}

// script runs commands until one fails.
type script struct {
	*Plumbing
	ctx    context.Context //nolint:containedctx // of one script
	folder string
	err    error
}

// rewrite puts the tag into the files and returns the ids of the new blobs.
func (s *script) rewrite(names []string, tag string) []string {
	contents := s.git(strings.Join(names, "\n")+"\n", "cat-file", "--batch")
	newTagLine := regexp.MustCompile(`newTag: ".*"`)
	var list strings.Builder
	for i := range names {
		head, rest, _ := strings.Cut(contents, "\n")
		var id, kind string
		var size int
		if _, err := fmt.Sscan(head, &id, &kind, &size); err != nil {
			s.err = errors.Join(s.err, err)
			return nil
		}
		changed := newTagLine.ReplaceAllString(rest[:size], `newTag: "`+tag+`"`)
		contents = rest[size+1:]
		file := filepath.Join(s.scratch, fmt.Sprint(i))
		s.err = errors.Join(s.err, os.WriteFile(file, []byte(changed), 0o600))
		list.WriteString(file + "\n")
	}
	return strings.Fields(s.git(list.String(), "hash-object", "-w", "--stdin-paths"))
}

func (s *script) git(input string, args ...string) string {
	if s.err != nil {
		return ""
	}
	command := exec.CommandContext(s.ctx, "git", args...)
	command.Dir = s.folder
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.com",
		"GIT_INDEX_FILE="+filepath.Join(s.scratch, "index"), "LC_ALL=C")
	command.Stdin = strings.NewReader(input)
	out, err := command.Output()
	if err != nil {
		s.err = fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return string(out)
}
