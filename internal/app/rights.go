package app

import (
	"path/filepath"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/registry"
)

// brokenCredential is an entry of the file whose secret could not be read. Who
// may use it gets the error; nobody asks without it instead.
type brokenCredential struct {
	config.Registry
	keys []identity.RepositoryKey
	err  error
}

// wireRegistries wires the client that all repositories share. The credentials
// of the file name repositories as people call them; the client knows keys.
func (w *work) wireRegistries() error {
	var credentials []registry.Credential
	for _, entry := range w.server.file.Registries {
		if !entry.HasCredentials() {
			continue
		}
		keys := w.usedBy(entry)
		credential, err := w.credential(entry, keys)
		if err != nil {
			w.broken = append(w.broken, brokenCredential{Registry: entry, keys: keys, err: err})
			continue
		}
		credentials = append(credentials, credential)
	}
	client, err := registry.New(registry.Options{
		Outbound:    w.ways.registries,
		Credentials: credentials,
		Logins:      w.server.logins,
		Cache:    w.server.memories,
		Docker:      w.server.own,
		CacheDir:    w.cacheFolder("registries"),
		ObserveCache:  w.server.remembered(),
		Now:         w.server.now,
	})
	if err != nil {
		return err
	}
	w.registries, w.pass = client, client.Batch()
	return nil
}

// usedBy returns the keys of the opened repositories that may use an entry. A key
// with a star would be a glob; no forge makes one.
func (w *work) usedBy(entry config.Registry) []identity.RepositoryKey {
	var keys []identity.RepositoryKey
	for _, r := range w.repositories {
		if r.scm == nil || !r.named.fitsAny(entry.UsableBy) {
			continue
		}
		if key := r.scm.Info().Key; !strings.Contains(string(key), "*") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func (w *work) credential(entry config.Registry, keys []identity.RepositoryKey) (registry.Credential, error) {
	made := registry.Credential{
		Host: entry.Host, Repositories: entry.Repositories, Username: entry.Username, TokenHost: entry.TokenHost,
		UsableAs: entry.UsableBy,
	}
	for _, key := range keys {
		made.UsableBy = append(made.UsableBy, string(key))
	}
	var err error
	if entry.Login.Provider != "" {
		made.Source, err = w.source(entry)
		made.Identity = loginIdentity(entry.Login)
		return made, err
	}
	reference := entry.Password
	if reference.IsZero() {
		reference = entry.Token
	}
	made.Secret, err = w.secret(reference)
	return made, err
}

// check says whether the credential that the repository would ask an image with
// is broken.
func (w *work) check(key identity.RepositoryKey, asked image.Repository) error {
	for _, b := range w.broken {
		if b.Host == asked.Host() && covers(b.Registry, asked) && slices.Contains(b.keys, key) {
			return fault.Wrap(fault.Invalid, b.err)
		}
	}
	return nil
}

// cacheFolder returns the folder of one kind of things that are kept; empty when
// nothing is.
func (w *work) cacheFolder(name string) string {
	if w.cache == "" {
		return ""
	}
	return filepath.Join(w.cache, name)
}
