package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/imports"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/suggest"
)

// Suggest returns a config for the files of a folder. schema is the address of the JSON Schema
// that it names, or empty.
func Suggest(ctx context.Context, dir, schema string) (*suggest.Suggestion, error) {
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	found, err := imports.Find(ctx, folderFiles(ctx, dir), 0)
	if err != nil {
		return nil, err
	}
	found.Schema = schema
	suggestion, err := suggest.Config(found.Found)
	if err != nil {
		return nil, fmt.Errorf("scan %s: %w", dir, err)
	}
	return suggestion, nil
}

// PreviewFirst plans the first reconciliation with a suggested config, and lets the config
// begin carefully if the reconciliation would propose much. Nothing is written.
func PreviewFirst(
	ctx context.Context, dir string, suggestion *suggest.Suggestion, options Options,
) ([]pullrequest.First, []ComponentError, error) {
	first, failed, err := planFirst(ctx, dir, suggestion.Text, options)
	if err != nil {
		return nil, nil, err
	}
	before := suggestion.Text
	suggestion.Begin(pullrequest.Starts(first))
	if suggestion.Text == before {
		return first, failed, nil
	}
	return planFirst(ctx, dir, suggestion.Text, options)
}

func planFirst(ctx context.Context, dir, text string, options Options) ([]pullrequest.First, []ComponentError, error) {
	loaded, problems := config.Load(config.FileName, []byte(text))
	if err := problems.Err(); err != nil {
		return nil, nil, err
	}
	opened, err := openLoaded(dir, loaded, nil)
	if err != nil {
		return nil, nil, err
	}
	preview, err := opened.Plan(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	decisions := make([]promotion.Decision, 0, len(preview.Targets))
	for i := range preview.Targets {
		decisions = append(decisions, preview.Targets[i].Decision)
	}
	return pullrequest.FirstReconciliation(decisions), preview.Errors, nil
}

// configMode makes the config readable for all, like other committed files.
const configMode fs.FileMode = 0o644

// WriteConfig writes a new config file in one step: a reader sees all of it or
// nothing. A file that exists is a Conflict fault.
func WriteConfig(name, text string) error {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing was written through the handle itself
	err = create(root, filepath.Base(name), text)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "%s exists and is not overwritten: remove it first, or write to another file with -o", name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func create(root *os.Root, name, text string) error {
	if _, err := root.Lstat(name); err == nil {
		return fs.ErrExist
	}
	temporary, err := writeBeside(root, name, []byte(text), configMode)
	if err != nil {
		return err
	}
	return publish(root, temporary, name)
}

// publish gives a temporary file its name. Unlike a rename, a link never replaces a
// file, but not all file systems have links.
func publish(root *os.Root, temporary, name string) error {
	err := root.Link(temporary, name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		if err = root.Rename(temporary, name); err == nil {
			return nil
		}
	}
	return errors.Join(err, root.Remove(temporary))
}

// Import returns a config that does what another tool was configured to do by files of a folder.
// schema is the address of the JSON Schema that it names, or empty.
func Import(ctx context.Context, dir, schema string, tool imports.Tool) (*imports.Imported, error) {
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	found, err := imports.Find(ctx, folderFiles(ctx, dir), 0)
	if err != nil {
		return nil, err
	}
	found.Schema = schema
	imported, err := imports.Config(tool, found)
	if err != nil {
		return nil, fmt.Errorf("import %s from %s: %w", tool, dir, err)
	}
	return imported, nil
}

// OtherWriters warns of other tools that update what the config of a folder follows.
func OtherWriters(ctx context.Context, dir string, loaded *config.Config) (config.Problems, error) {
	found, err := imports.Find(ctx, folderFiles(ctx, dir), 0)
	if err != nil {
		return nil, err
	}
	return imports.OtherWriters(loaded, found), nil
}
