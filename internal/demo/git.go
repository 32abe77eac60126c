package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	gogit "github.com/go-git/go-git/v5"
	gitconfig "github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

const (
	configFile = ".promoter.yaml"
	mainBranch = plumbing.ReferenceName("refs/heads/main")
)

// hub is the bare repository shared by all users.
type hub struct {
	dir        string
	address    string               // of the original at a forge; empty: this is the original
	auth       transport.AuthMethod // for the forge
	repository *gogit.Repository
}

func newHub(dir string) (*hub, error) {
	repository, err := gogit.PlainInitWithOptions(dir, &gogit.PlainInitOptions{
		InitOptions: gogit.InitOptions{DefaultBranch: mainBranch}, Bare: true,
	})
	if err != nil {
		return nil, fmt.Errorf("make the repository: %w", err)
	}
	return &hub{dir: dir, repository: repository}, nil
}

// url returns the repository URL for the commands.
func (h *hub) url() string {
	if h.address != "" {
		return h.address
	}
	path := filepath.ToSlash(h.dir)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return "file://" + path
}

// fetch updates the branches to those of the original.
func (h *hub) fetch(ctx context.Context) error {
	if h.address == "" {
		return nil
	}
	forge, err := h.repository.CreateRemoteAnonymous(&gitconfig.RemoteConfig{Name: "anonymous", URLs: []string{h.address}})
	if err != nil {
		return fmt.Errorf("fetch from the forge: %w", err)
	}
	err = forge.FetchContext(ctx, &gogit.FetchOptions{
		Auth: h.auth, Prune: true, Force: true, Tags: gogit.NoTags,
		RefSpecs: []gitconfig.RefSpec{"+refs/heads/*:refs/heads/*"},
	})
	if err != nil && !errors.Is(err, gogit.NoErrAlreadyUpToDate) {
		return fmt.Errorf("fetch from the forge: %w", err)
	}
	return nil
}

// compare returns an error unless main has exactly these files with this
// content.
func (h *hub) compare(want tree) error {
	got, err := h.files()
	if err != nil {
		return err
	}
	for _, name := range want.names() {
		if content, there := got[name]; !there || content != want[name] {
			return fmt.Errorf("promise broken: %s is not what was promised; it holds\n%s\ninstead of\n%s", name, content, want[name])
		}
	}
	for _, name := range got.names() {
		if _, ours := want[name]; !ours {
			return fmt.Errorf("promise broken: %s was not there before", name)
		}
	}
	return nil
}

func (h *hub) files() (tree, error) {
	head, err := h.repository.Reference(mainBranch, true)
	if err != nil {
		return nil, fmt.Errorf("read main: %w", err)
	}
	commit, err := h.repository.CommitObject(head.Hash())
	if err != nil {
		return nil, fmt.Errorf("read main: %w", err)
	}
	all, err := commit.Files()
	if err != nil {
		return nil, fmt.Errorf("list the files of main: %w", err)
	}
	got := tree{}
	err = all.ForEach(func(file *object.File) error {
		content, err := file.Contents()
		got[file.Name] = content
		return err
	})
	return got, err
}

// refs lists all branches with their commits.
func (h *hub) refs() (string, error) {
	all, err := h.repository.References()
	if err != nil {
		return "", fmt.Errorf("list the branches: %w", err)
	}
	var lines []string
	err = all.ForEach(func(ref *plumbing.Reference) error {
		lines = append(lines, ref.String())
		return nil
	})
	slices.Sort(lines)
	return strings.Join(lines, "\n"), err
}

// log prints the commits of main, newest first, like git log --oneline.
func (h *hub) log(out io.Writer) error {
	head, err := h.repository.Reference(mainBranch, true)
	if err != nil {
		return fmt.Errorf("read main: %w", err)
	}
	commits, err := h.repository.Log(&gogit.LogOptions{From: head.Hash(), Order: gogit.LogOrderCommitterTime})
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	return commits.ForEach(func(commit *object.Commit) error {
		subject, _, _ := strings.Cut(commit.Message, "\n")
		fmt.Fprintf(out, "%.7s %-8s %s\n", commit.Hash, commit.Author.Name, subject)
		return nil
	})
}

// person is a user who works on a clone of the repository.
type person struct {
	name  string
	dir   string
	now   func() time.Time
	auth  transport.AuthMethod // nil: no authentication for a local repository
	clone *gogit.Repository
}

// newPerson creates a person with an empty clone.
func newPerson(name, dir string, h *hub, now func() time.Time) (*person, error) {
	clone, err := gogit.PlainInitWithOptions(dir, &gogit.PlainInitOptions{InitOptions: gogit.InitOptions{DefaultBranch: mainBranch}})
	if err != nil {
		return nil, fmt.Errorf("make a clone: %w", err)
	}
	_, err = clone.CreateRemote(&gitconfig.RemoteConfig{Name: gogit.DefaultRemoteName, URLs: []string{h.url()}})
	if err != nil {
		return nil, fmt.Errorf("make a clone: %w", err)
	}
	return &person{name: name, dir: dir, now: now, auth: h.auth, clone: clone}, nil
}

// pull updates the clone to main.
func (p *person) pull(ctx context.Context) error {
	work, err := p.clone.Worktree()
	if err != nil {
		return fmt.Errorf("pull: %w", err)
	}
	err = work.PullContext(ctx, &gogit.PullOptions{ReferenceName: mainBranch, SingleBranch: true, Auth: p.auth})
	if errors.Is(err, gogit.NoErrAlreadyUpToDate) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pull: %w", err)
	}
	return nil
}

// push commits the given files and pushes. It returns the commit.
func (p *person) push(ctx context.Context, files tree, message string) (string, error) {
	work, err := p.clone.Worktree()
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	for _, name := range files.names() {
		if err := p.write(name, files[name]); err != nil {
			return "", err
		}
		if _, err := work.Add(name); err != nil {
			return "", fmt.Errorf("add %s: %w", name, err)
		}
	}
	by := &object.Signature{Name: p.name, Email: p.name + "@example.com", When: p.now()}
	commit, err := work.Commit(message+"\n", &gogit.CommitOptions{Author: by, Committer: by})
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	if err := p.clone.PushContext(ctx, &gogit.PushOptions{Auth: p.auth}); err != nil {
		return "", fmt.Errorf("push as a user: %w", err)
	}
	return commit.String(), nil
}

func (p *person) write(name, content string) error {
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the sample: %w", err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		return fmt.Errorf("make the sample: %w", err)
	}
	return nil
}
