package demo

import (
	"context"
	"errors"
	"fmt"
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
	address    string               // URL for the users
	mirror     bool                 // the original is at a forge, at that URL
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
	return &hub{dir: dir, repository: repository}, loosen(repository)
}

// loosen lets the git command store single objects when a user pushes to the folder:
// this process does not notice new packs.
func loosen(repository *gogit.Repository) error {
	settings, err := repository.Config()
	if err != nil {
		return fmt.Errorf("configure the repository: %w", err)
	}
	settings.Raw.Section("receive").SetOption("unpackLimit", "1000000").SetOption("autogc", "false")
	settings.Raw.Section("gc").SetOption("auto", "0")
	if err := repository.SetConfig(settings); err != nil {
		return fmt.Errorf("configure the repository: %w", err)
	}
	return nil
}

// fetch updates the branches to those of the original.
func (h *hub) fetch(ctx context.Context) error {
	if !h.mirror {
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

// head returns the commit of main.
func (h *hub) head() (plumbing.Hash, error) {
	head, err := h.repository.Reference(mainBranch, true)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read main: %w", err)
	}
	return head.Hash(), nil
}

func (h *hub) files() (tree, error) {
	head, err := h.head()
	if err != nil {
		return nil, err
	}
	commit, err := h.repository.CommitObject(head)
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

// log returns the commits of main, newest first, like git log --format='%an: %s'.
func (h *hub) log() (string, error) {
	head, err := h.head()
	if err != nil {
		return "", err
	}
	commits, err := h.repository.Log(&gogit.LogOptions{From: head, Order: gogit.LogOrderCommitterTime})
	if err != nil {
		return "", fmt.Errorf("read the log: %w", err)
	}
	var lines strings.Builder
	err = commits.ForEach(func(commit *object.Commit) error {
		subject, _, _ := strings.Cut(commit.Message, "\n")
		fmt.Fprintf(&lines, "%s: %s\n", commit.Author.Name, subject)
		return nil
	})
	return lines.String(), err
}

// user works on a clone of the repository.
type user struct {
	name    string
	dir     string
	address string // of the repository
	now     func() time.Time
	auth    transport.AuthMethod // nil: no authentication for a local repository
	clone   *gogit.Repository
}

// newUser creates a user with an empty clone, which the git command can use too.
func newUser(name, dir string, h *hub, now func() time.Time) (*user, error) {
	clone, err := gogit.PlainInitWithOptions(dir, &gogit.PlainInitOptions{InitOptions: gogit.InitOptions{DefaultBranch: mainBranch}})
	if err != nil {
		return nil, fmt.Errorf("make a clone: %w", err)
	}
	settings, err := clone.Config()
	if err != nil {
		return nil, fmt.Errorf("make a clone: %w", err)
	}
	settings.User.Name = name
	settings.User.Email = name + "@example.com"
	settings.Remotes[gogit.DefaultRemoteName] = &gitconfig.RemoteConfig{
		Name: gogit.DefaultRemoteName, URLs: []string{h.address},
		Fetch: []gitconfig.RefSpec{"+refs/heads/*:refs/remotes/origin/*"},
	}
	settings.Branches[mainBranch.Short()] = &gitconfig.Branch{
		Name: mainBranch.Short(), Remote: gogit.DefaultRemoteName, Merge: mainBranch,
	}
	if err := clone.SetConfig(settings); err != nil {
		return nil, fmt.Errorf("make a clone: %w", err)
	}
	return &user{name: name, dir: dir, address: h.address, now: now, auth: h.auth, clone: clone}, nil
}

// pull updates the clone to main.
func (p *user) pull(ctx context.Context) error {
	work, err := p.clone.Worktree()
	if err != nil {
		return fmt.Errorf("pull: %w", err)
	}
	err = work.PullContext(ctx, &gogit.PullOptions{ReferenceName: mainBranch, SingleBranch: true, Auth: p.auth})
	if err != nil && !errors.Is(err, gogit.NoErrAlreadyUpToDate) {
		return fmt.Errorf("pull: %w", err)
	}
	return nil
}

// push commits the given files and pushes. It returns the commit.
func (p *user) push(ctx context.Context, files tree, message string) (string, error) {
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

func (p *user) write(name, content string) error {
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the sample: %w", err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		return fmt.Errorf("make the sample: %w", err)
	}
	return nil
}
