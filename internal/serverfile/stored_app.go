package serverfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"promoter/internal/atomicfile"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/scm/github"
	"promoter/internal/secret"
)

// The files of a GitHub App that promoter created. appFile is written last: if it
// exists, so do the others.
const (
	appFile             = "app.json"
	AppKeyFile          = "private-key.pem"
	AppHookSecretFile   = "webhook-secret"
	AppClientSecretFile = "client-secret"
)

// StoredApp is a GitHub App that promoter created, without its secrets.
type StoredApp struct {
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

const (
	storedAppSchema = 1
	maxAppFile      = 64 << 10 // bytes
)

// AppFolder is where the credentials of an App are stored.
type AppFolder string

// AppFolder returns where the App of a forge is stored that the service created.
func (s *Server) AppFolder(forge string) AppFolder {
	return AppFolder(filepath.Join(s.File.Data, "apps", forge))
}

// AppSetupURL returns the page on which the App of a forge is created, with a
// placeholder for its secret.
func (s *Server) AppSetupURL(forge string) string {
	return s.File.URL + "/setup/" + url.PathEscape(forge) + "/SECRET"
}

// AppCredential returns the ID and the key of an App: those of the server file, or the
// stored ones.
func (s *Server) AppCredential(forge serverconfig.Forge) (id int64, key secret.String, err error) {
	if forge.App.Setup.IsZero() {
		if key, err = s.Secret(forge.App.Key); err == nil {
			key, err = secret.Checked(key, "forge "+forge.Name, github.CheckKey)
		}
		return forge.App.ID, key, err
	}
	folder := s.AppFolder(forge.Name)
	stored, err := folder.Read()
	if fault.KindOf(err) == fault.NotFound {
		return 0, secret.String{}, fault.New(fault.Invalid, "the forge %s has no App yet: make it at %s", forge.Name,
			s.AppSetupURL(forge.Name))
	}
	if err != nil {
		return 0, secret.String{}, err
	}
	key, err = folder.Secret(AppKeyFile, s.SecretSources())
	return stored.ID, key, err
}

// Path returns the path of a file of the folder.
func (f AppFolder) Path(name string) string { return filepath.Join(string(f), name) }

// Read returns the App of the folder. Without one, the error is of kind fault.NotFound.
func (f AppFolder) Read() (StoredApp, error) {
	data, err := atomicfile.Read(f.Path(appFile), maxAppFile)
	if errors.Is(err, fs.ErrNotExist) {
		return StoredApp{}, fault.New(fault.NotFound, "%s holds no App", f)
	}
	if err != nil {
		return StoredApp{}, fmt.Errorf("read the App of %s: %w", f, err)
	}
	var stored StoredApp
	if err := json.Unmarshal(data, &stored); err != nil || stored.Schema != storedAppSchema || stored.ID <= 0 {
		return StoredApp{}, fault.New(fault.Invalid,
			"%s is not what promoter wrote there: restore it from a backup, or remove the folder and make another App", f.Path(appFile))
	}
	return stored, nil
}

// Secret reads a file of the folder with the checks of a file: reference.
func (f AppFolder) Secret(name string, sources serverconfig.Sources) (secret.String, error) {
	path, err := filepath.Abs(f.Path(name))
	if err != nil {
		return secret.String{}, err
	}
	reference, err := serverconfig.ParseReference("file:" + path)
	if err != nil {
		return secret.String{}, err
	}
	return reference.Resolve(sources)
}

// probeSize is how many bytes are written to check for free space: more than the files
// of an App need.
const probeSize = 64 << 10

// Prepare creates the folder and checks that an App can be stored in it. GitHub shows
// the key once, so the check comes before the App exists. Created reports that the
// folder did not exist.
func (f AppFolder) Prepare() (created bool, err error) {
	for _, name := range []string{appFile, AppKeyFile, AppHookSecretFile, AppClientSecretFile} {
		if _, err := os.Lstat(f.Path(name)); err == nil {
			return false, fault.New(fault.Conflict,
				"%s is there already, and is never written over: name another folder, or move it away", f.Path(name))
		}
	}
	_, err = os.Stat(string(f))
	created = errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return false, fault.New(fault.Invalid, "make the folder of the App: %w", err)
	}
	probe, err := f.writeTemporary(make([]byte, probeSize))
	if err != nil {
		return created, fault.New(fault.Invalid,
			"the folder of the App cannot be written: %w: let promoter write to it, or name another one", err)
	}
	removed, synced := os.Remove(probe), f.sync()
	if err := errors.Join(removed, synced); err != nil {
		return created, fault.New(fault.Invalid, "the folder of the App cannot be brought to the disk: %w: name another one", err)
	}
	return created, nil
}

// Store writes the files of an App: all of them, or none.
func (f AppFolder) Store(made github.Registered, hook string) (_ StoredApp, err error) {
	stored := StoredApp{
		Schema: storedAppSchema, ID: made.ID, Slug: made.Slug, Owner: made.Owner, ClientID: made.ClientID,
		Page: made.Page, Install: made.Install, Settings: made.Settings, Hook: hook,
	}
	text, err := json.MarshalIndent(stored, "", "  ")
	if err != nil {
		return StoredApp{}, err
	}
	type file struct{ name, content, temporary string }
	files := []file{{name: AppKeyFile, content: made.Key.Reveal()}}
	if !made.WebhookSecret.IsZero() {
		files = append(files, file{name: AppHookSecretFile, content: made.WebhookSecret.Reveal()})
	}
	files = append(files, file{name: AppClientSecretFile, content: made.ClientSecret.Reveal()},
		file{name: appFile, content: string(text) + "\n"})

	var written []string
	defer func() {
		if err != nil {
			for _, name := range written {
				err = errors.Join(err, os.Remove(name))
			}
		}
	}()
	for i := range files {
		if files[i].temporary, err = f.writeTemporary([]byte(files[i].content)); err != nil {
			return StoredApp{}, err
		}
		written = append(written, files[i].temporary)
	}
	for i, one := range files {
		if err := f.rename(one.temporary, one.name); err != nil {
			return StoredApp{}, err
		}
		written[i] = f.Path(one.name)
	}
	return stored, f.sync()
}

// writeTemporary writes a file of the folder that only its owner may read, and syncs
// it.
func (f AppFolder) writeTemporary(content []byte) (name string, err error) {
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

// rename gives a temporary file its name. It reserves the name first: if two processes
// store an App at once, the later one replaces nothing, and may remove what it wrote.
func (f AppFolder) rename(temporary, name string) error {
	path := f.Path(name)
	reserved, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "%s came in the meantime", path)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(reserved.Close(), os.Rename(temporary, path)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// sync makes the names of the files durable.
func (f AppFolder) sync() error {
	folder, err := os.Open(string(f))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
