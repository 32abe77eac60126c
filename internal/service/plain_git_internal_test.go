package service

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/scm/plain"
	"promoter/internal/service/history"
	"promoter/internal/store"
	"promoter/internal/webhook"
)

// A webhook names a repository of plain Git by the addresses that its host reports. It is
// found however the server file splits its address into the URL of the forge and a name.
func TestSubscribers_findRepositoriesOfPlainGit(t *testing.T) {
	t.Parallel()
	tests := []struct{ base, name, kind, payload string }{
		{"https://dev.azure.com", "acme/Platform/_git/gitops", "azuredevops", "push"},
		{"https://dev.azure.com/acme", "Platform/_git/gitops", "azuredevops", "pull-request-merged"},
		{"https://acme@dev.azure.com/acme/Platform/_git", "gitops", "azuredevops", "push"},
		{"https://dev.azure.com/acme", "Our%20Platform/_git/gitops", "azuredevops", "push-project-with-space"},
		{"https://dev.azure.com/acme", "_git/gitops", "azuredevops", "push-project-of-the-same-name"},
		{"https://acme.visualstudio.com/DefaultCollection", "Platform/_git/gitops", "azuredevops", "push-older-host"},
		{"ssh://git@ssh.dev.azure.com/v3/acme", "Platform/gitops", "azuredevops", "push"},
		{"ssh://git@ssh.dev.azure.com/v3", "acme/Our%20Platform/gitops", "azuredevops", "push-project-with-space"},
		{"https://tfs.example.com/tfs/DefaultCollection", "Platform/_git/gitops", "azuredevops", "push-server"},
		{"ssh://tfs.example.com:22/tfs/DefaultCollection", "Platform/_git/gitops", "azuredevops", "push-server"},
		{"https://bitbucket.org", "acme/gitops.git", "bitbucket", "cloud-push"},
		{"https://bitbucket.org", "Acme/GitOps", "bitbucket", "cloud-push"},
		{"ssh://git@bitbucket.org/acme", "gitops.git", "bitbucket", "cloud-pull-request"},
		{"https://bitbucket.example.com/scm", "plat/gitops.git", "bitbucket", "data-center-push"},
		{"ssh://git@bitbucket.example.com:7999", "plat/gitops.git", "bitbucket", "data-center-pull-request"},
		{"https://gogs.example.com", "acme/gitops", "gogs", "push"},
		{"https://gogs.example.com/acme/", "gitops.git", "gogs", "push-as-form"},
		{"ssh://git@gogs.example.com:2222/acme", "gitops.git", "gogs", "pull-request"},
		{"http://example.com/gogs", "acme/gitops.git", "gogs", "push-below-a-path"},
	}
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		stored := store.New(db)
		for _, test := range tests {
			keys := []string{recordPlain(t, db, stored, test.base, test.name), recordPlain(t, db, stored, test.base, "another/gitops")}
			var found []string
			for _, e := range decodePayload(t, test.kind, test.payload).Events {
				err := db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
					more, err := stored.Subscribers(ctx, tx, "hook", e)
					found = append(found, more...)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if found = slices.Compact(found); len(found) != 1 || found[0] != keys[0] {
				t.Errorf("%s of %s finds %q, not %s", test.payload, test.kind, found, keys[0])
			}
			for _, key := range keys {
				if err := stored.DeleteRepository(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// recordPlain stores a repository of plain Git as a reconciliation does, and returns its key.
func recordPlain(t *testing.T, db *database.DB, stored *store.Store, base, name string) string {
	t.Helper()
	opened, err := plain.New(plain.Options{Base: base}).Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	repository := history.RepositoryOf(&connect.Repository{SCM: opened, Forge: &connect.Forge{}})
	err = db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		_, err := stored.RecordReconciliation(ctx, tx, repository, store.HistoryUpdate{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return repository.Key
}

// decodePayload decodes a payload of testdata/payloads.
func decodePayload(t *testing.T, kind, name string) webhook.Delivery {
	t.Helper()
	base := filepath.Join("..", "..", "testdata", "payloads", kind, name)
	body, err := os.ReadFile(base + ".json")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(base + ".headers")
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	for line := range strings.Lines(string(lines)) {
		field, value, _ := strings.Cut(line, ":")
		header.Set(field, strings.TrimSpace(value))
	}
	d, err := webhook.Decode(kind, webhook.Request{Header: header, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return d
}
