package databasetest

import (
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"promoter/internal/database"
)

// Backup backs up a database as docs/operate/backup.md describes, and returns what restores
// it. No process may use the database of SQLite meanwhile.
func Backup(t testing.TB, o database.Options) (restore func()) {
	t.Helper()
	if o.Path != "" {
		return backupFiles(t, o.Path)
	}
	dump := client(t, o, "pg_dump", "--no-owner", nil)
	return func() {
		t.Helper()
		client(t, o, "psql", "--quiet", []byte("drop schema "+schemaOf(t, o)+" cascade;\n"))
		client(t, o, "psql", "--quiet", dump)
	}
}

// backupFiles copies the files of SQLite.
func backupFiles(t testing.TB, path string) (restore func()) {
	t.Helper()
	list := func() []string {
		files, err := filepath.Glob(path + "*")
		if err != nil || len(files) == 0 {
			t.Fatalf("no database %s: %v", path, err)
		}
		return files
	}
	copies := map[string][]byte{}
	for _, file := range list() {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		copies[file] = content
	}
	return func() {
		t.Helper()
		for _, file := range list() {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		for file, content := range copies {
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// client runs a client of PostgreSQL for a schema, and returns its output.
func client(t testing.TB, o database.Options, name, option string, input []byte) []byte {
	t.Helper()
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(o.URL.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	address.RawQuery = "sslmode=disable"
	arguments := []string{option, "--no-password", "--dbname", address.String()}
	if name == "pg_dump" {
		arguments = append(arguments, "--schema", schemaOf(t, o))
	} else {
		arguments = append(arguments, "--no-psqlrc", "--set", "ON_ERROR_STOP=1")
	}
	command := exec.CommandContext(t.Context(), filepath.Join(programs, name), arguments...)
	command.Stdin = bytes.NewReader(input)
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, &problems)
	}
	return out
}

// schemaOf returns the schema of a database that newSchema made.
func schemaOf(t testing.TB, o database.Options) string {
	t.Helper()
	address, err := url.Parse(o.URL.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	return address.Query().Get("search_path")
}
