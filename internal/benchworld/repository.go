package benchworld

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"promoter/internal/benchtree"
)

// settings let a repository be pushed to, and never tidy it up while it is measured.
const settings = "[http]\n\treceivepack = true\n[uploadpack]\n\tallowFilter = true\n[gc]\n\tauto = 0\n[receive]\n\tautogc = false\n"

// Repository makes one with these files on its branch main. Its name is the path in
// which it is served.
func (w *World) Repository(ctx context.Context, name string, files map[string]string) error {
	if _, err := run(ctx, w.folder, nil, "init", "-q", "--bare", "-b", "main", "--template=", w.path(name)); err != nil {
		return err
	}
	var stream bytes.Buffer
	fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter bench <bench@example.com> now\ndata 1\nm\n")
	for file, content := range files {
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", file, len(content), content)
	}
	if _, err := run(ctx, w.path(name), stream.Bytes(), "fast-import", "--quiet", "--date-format=now"); err != nil {
		return err
	}
	config, err := os.OpenFile(filepath.Join(w.path(name), "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("configure %s: %w", name, err)
	}
	_, err = config.WriteString(settings)
	return errors.Join(err, config.Close())
}

// Tree makes a repository with the tree of all benchmarks, whose images are those of
// this registry. Its environments are pushed to, and follow all images.
func (w *World) Tree(ctx context.Context, name string, size benchtree.Size) error {
	config := "version: 1\ncomponents:\n  all: {image: " + w.Host + "/team-*/**, select: {semver: '>=1'}}\nenvironments:\n"
	for n := range size.Environments {
		config += fmt.Sprintf("  env-%[1]d: {paths: ['apps/{application}/overlays/env-%[1]d'], land: push}\n", n)
	}
	files := map[string]string{".promoter.yaml": config}
	for file := range size.Files() {
		files[file.Path] = strings.ReplaceAll(string(file.Content), benchtree.Registry, w.Host)
	}
	return w.Repository(ctx, name, files)
}

// Git runs Git in a repository and returns what it prints.
func (w *World) Git(ctx context.Context, name string, args ...string) (string, error) {
	return run(ctx, w.path(name), nil, args...)
}

func (w *World) path(name string) string { return filepath.Join(w.folder, filepath.FromSlash(name)) }

func run(ctx context.Context, folder string, input []byte, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir, command.Stdin = folder, bytes.NewReader(input)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", args[0], err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
