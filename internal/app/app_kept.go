package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/scm/github"
	"promoter/internal/secret"
)

// The files of a GitHub App that promoter had made. The first says that the others
// are there, so it is written last.
const (
	appFile       = "app.json"
	appKeyFile    = "private-key.pem"
	appHookFile   = "webhook-secret"
	appClientFile = "client-secret"
)

// KeptApp is a GitHub App that promoter had made, without its secrets.
type KeptApp struct {
	Schema   int    `json:"schema"`
	ID       int64  `json:"id"`
	Slug     string `json:"slug"`
	Owner    string `json:"owner"`
	ClientID string `json:"clientId"`
	Page     string `json:"page"`
	Install  string `json:"install"`  // the page on which it is installed
	Settings string `json:"settings"` // the page of its owner
	Hook     string `json:"hook,omitempty"`
}

// keptSchema is the number of the form of appFile.
const keptSchema = 1

// maxAppFile bounds appFile, in bytes.
const maxAppFile = 64 << 10

// appFolder is where the credentials of an App lie.
type appFolder string

func (f appFolder) path(name string) string { return filepath.Join(string(f), name) }

// read returns the App of the folder; a NotFound fault: there is none.
func (f appFolder) read() (KeptApp, error) {
	data, err := readFile(f.path(appFile), maxAppFile)
	if errors.Is(err, fs.ErrNotExist) {
		return KeptApp{}, fault.New(fault.NotFound, "%s holds no App", f)
	}
	if err != nil {
		return KeptApp{}, fmt.Errorf("read the App of %s: %w", f, err)
	}
	var kept KeptApp
	if err := json.Unmarshal(data, &kept); err != nil || kept.Schema != keptSchema || kept.ID <= 0 {
		return KeptApp{}, fault.New(fault.Invalid, "%s is not what promoter wrote there: restore it from a backup, or remove the folder and make another App", f.path(appFile))
	}
	return kept, nil
}

// secret reads one of the files as a reference to it would.
func (f appFolder) secret(name string, sources config.Sources) (secret.String, error) {
	path, err := filepath.Abs(f.path(name))
	if err != nil {
		return secret.String{}, err
	}
	reference, err := config.ParseReference("file:" + path)
	if err != nil {
		return secret.String{}, err
	}
	return reference.Resolve(sources)
}

// roomFor is how much is written to see that there is room, in bytes: more than the
// files of an App take.
const roomFor = 64 << 10

// prepare makes the folder and says whether an App can be kept there: GitHub shows
// the key once, so this is asked before there is one. Made says that it was not there.
func (f appFolder) prepare() (made bool, err error) {
	for _, name := range []string{appFile, appKeyFile, appHookFile, appClientFile} {
		if _, err := os.Lstat(f.path(name)); err == nil {
			return false, fault.New(fault.Conflict, "%s is there already, and is never written over: name another folder, or move it away", f.path(name))
		}
	}
	_, err = os.Stat(string(f))
	made = errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return false, fault.New(fault.Invalid, "make the folder of the App: %w", err)
	}
	probe, err := f.temporary(make([]byte, roomFor))
	if err != nil {
		return made, fault.New(fault.Invalid, "the folder of the App cannot be written: %w: let promoter write to it, or name another one", err)
	}
	if err := errors.Join(os.Remove(probe), f.sync()); err != nil {
		return made, fault.New(fault.Invalid, "the folder of the App cannot be brought to the disk: %w: name another one", err)
	}
	return made, nil
}

// temporary writes a file of the folder, to the disk, that only its owner may read.
func (f appFolder) temporary(content []byte) (name string, err error) {
	file, err := os.CreateTemp(string(f), ".app-*") // 0600
	if err != nil {
		return "", err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// appContent is one file of an App.
type appContent struct {
	name    string
	content string
}

// contentsOf are the files of an App, appFile last.
func contentsOf(made github.Registered, hook string) ([]appContent, KeptApp, error) {
	kept := KeptApp{
		Schema: keptSchema, ID: made.ID, Slug: made.Slug, Owner: made.Owner, ClientID: made.ClientID,
		Page: made.Page, Install: made.Install, Settings: made.Settings, Hook: hook,
	}
	text, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return nil, KeptApp{}, err
	}
	all := []appContent{{appKeyFile, made.Key.Reveal()}}
	if !made.WebhookSecret.IsZero() {
		all = append(all, appContent{appHookFile, made.WebhookSecret.Reveal()})
	}
	return append(all, appContent{appClientFile, made.ClientSecret.Reveal()}, appContent{appFile, string(text) + "\n"}), kept, nil
}

// keep writes the files of an App: all of them, or none.
func (f appFolder) keep(made github.Registered, hook string) (_ KeptApp, err error) {
	all, kept, err := contentsOf(made, hook)
	if err != nil {
		return KeptApp{}, err
	}
	var written []string
	defer func() {
		if err != nil {
			for _, name := range written {
				err = errors.Join(err, os.Remove(name))
			}
		}
	}()
	for i, one := range all {
		name, err := f.temporary([]byte(one.content))
		if err != nil {
			return KeptApp{}, err
		}
		written, all[i].content = append(written, name), name
	}
	for i, one := range all {
		if err := f.place(one.content, one.name); err != nil {
			return KeptApp{}, err
		}
		written[i] = f.path(one.name)
	}
	return kept, f.sync()
}

// place gives a temporary file its name, which it takes first: of two who keep an App
// at once the later one replaces nothing, and so may remove what it wrote.
func (f appFolder) place(temporary, name string) error {
	path := f.path(name)
	taken, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "%s came in the meantime", path)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(taken.Close(), os.Rename(temporary, path)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// sync brings the names of the files to the disk.
func (f appFolder) sync() error {
	folder, err := os.Open(string(f))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
