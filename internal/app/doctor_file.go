package app

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/database"
)

// secrets resolves every reference of the file.
func (d *doctor) secrets() {
	failed, count := map[string]bool{}, 0
	for _, one := range d.references() {
		if one.reference.IsZero() {
			continue
		}
		count++
		if _, err := one.reference.Resolve(d.server.SecretSources()); err != nil {
			failed[one.of] = true
			d.say(VerdictFail, one.of, "set the variable, or make the file readable for promoter", "%v", err)
		}
	}
	if len(failed) == 0 {
		d.say(VerdictOK, "secrets", "", "%d of %d are there", count, count)
	}
	if _, err := d.server.APIToken(); err != nil && !failed["api"] {
		d.say(VerdictFail, "api", "", "%v", err)
	}
}

// reference is where a secret is, and whose.
type reference struct {
	of        string
	reference serverconfig.Reference
}

func (d *doctor) references() []reference {
	all := []reference{
		{"database", d.file.Database.URL}, {"api", d.file.API}, {"tls", d.file.TLS.Certificate}, {"tls", d.file.TLS.Key},
	}
	for _, f := range d.file.Forges {
		of := "forge " + f.Name
		all = append(all, reference{of, f.Token}, reference{of, f.Password}, reference{of, f.SSHKey}, reference{of, f.KnownHosts})
		if f.App != nil {
			all = append(all, reference{of, f.App.Key}, reference{of, requiredSetup(d.server, f)})
		}
	}
	for _, r := range d.file.Registries {
		of := "registry " + r.Host
		all = append(all, reference{of, r.Password}, reference{of, r.Token}, reference{of, r.Login.Key}, reference{of, r.Login.Secret})
	}
	for _, header := range d.file.Traces.Headers {
		all = append(all, reference{"traces", header.Value})
	}
	for _, r := range d.file.Receivers {
		of := "receiver " + r.Name
		all = append(all, reference{of, r.Secret}, reference{of, r.PathSecret})
	}
	return all
}

// receivers makes each of them, as serve does at its start. Nothing is asked.
func (d *doctor) receivers() {
	for _, entry := range d.file.Receivers {
		subject := "receiver " + entry.Name
		switch _, err := d.server.NewReceiver(entry, &http.Client{Transport: d.connections.HTTP.Forges}); {
		case err != nil && d.failed(subject): // it was said with the secrets
		case errors.Is(err, connect.ErrNoApp):
			d.say(VerdictWarn, subject, "make the App at "+d.server.AppSetupURL(entry.App), "%v", connect.ErrNoApp)
		case err != nil:
			says := strings.TrimPrefix(err.Error(), subject+": ")
			d.say(VerdictFail, subject, "serve does not start with it: see docs/webhooks.md", "%s", says)
		case entry.Anonymous:
			d.say(VerdictWarn, subject, "give it a credential: each webhook costs a look", "takes webhooks of anybody")
		default:
			d.say(VerdictOK, subject, "", "has a credential")
		}
	}
	switch {
	case len(d.file.Receivers) == 0:
		d.say(VerdictWarn, "receivers", "add receivers, or have patience", "there are none: what is new is found by the poll, every %v", d.file.Poll)
	case d.file.URL == "":
		d.say(VerdictWarn, "url", "write url: https://HOST", "the address at which senders reach promoter is not known")
	default:
		d.say(VerdictOK, "url", "", "%s", d.file.URL)
	}
}

// failed says whether something about the subject failed already.
func (d *doctor) failed(subject string) bool {
	return slices.ContainsFunc(d.findings, func(f Finding) bool { return f.Subject == subject && f.Verdict == VerdictFail })
}

// database looks whether it can be used, and leaves its tables as they are. SQLite is
// in use by a running service: there it is the file and its folder that count. Mirrors
// lie in the data folder, which may be another one.
func (d *doctor) database(ctx context.Context) {
	if url := d.file.Database.URL; !url.IsZero() {
		d.postgres(ctx, url)
		d.folder("data", d.file.Data, writeThere)
		return
	}
	if filepath.Dir(d.server.DatabasePath()) != filepath.Clean(d.file.Data) {
		d.folder("data", d.file.Data, writeThere)
	}
	d.sqlite()
}

const writeThere = "let promoter write there, or name another folder"

func (d *doctor) sqlite() {
	path := d.server.DatabasePath()
	if !d.folder("database", filepath.Dir(path), writeThere) {
		return
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the path is the file's own
	switch {
	case os.IsNotExist(err): // serve makes it
	case err != nil:
		d.say(VerdictFail, "database", "give the file to promoter's user", "the file cannot be written: %v", err)
		return
	default:
		_ = file.Close()
	}
	d.say(VerdictOK, "database", "", "SQLite, in a folder that can be written")
}

// folder looks whether files can be made in one. It says so where they cannot, or where
// it is not there yet.
func (d *doctor) folder(subject, folder, fix string) bool {
	probe, err := os.CreateTemp(folder, ".doctor-*")
	switch {
	case os.IsNotExist(err):
		d.say(VerdictOK, subject, "", "%s is not there yet: serve makes it", folder)
		return false
	case err != nil:
		d.say(VerdictFail, subject, fix, "its folder cannot be written: %v", err)
		return false
	}
	_ = probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		d.say(VerdictWarn, subject, "remove that file", "%v", err)
		return false
	}
	return true
}

func (d *doctor) postgres(ctx context.Context, url serverconfig.Reference) {
	address, err := url.Resolve(d.server.SecretSources())
	if err != nil {
		return // it was said with the secrets
	}
	at, known, err := database.SchemaVersion(ctx, address)
	switch {
	case err != nil:
		d.say(VerdictFail, "database", fixOf(err, "see docs/database.md"), "%v", err)
	case at < known:
		d.say(VerdictOK, "database", "", "PostgreSQL answers; its tables are at step %d, and serve brings them to %d", at, known)
	default:
		d.say(VerdictOK, "database", "", "PostgreSQL answers; its tables are at step %d", at)
	}
}

// requiredSetup returns the reference to the secret of a setup page while it is
// required: until the App exists.
func requiredSetup(s *connect.Server, forge serverconfig.Forge) serverconfig.Reference {
	if _, err := s.AppFolder(forge.Name).Read(); err == nil {
		return serverconfig.Reference{}
	}
	return forge.App.Setup
}
