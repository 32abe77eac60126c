package app_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/database/databasetest"
	"promoter/internal/state"
)

// This release serves on a database of the previous one, which knew another repository.
func TestServe_databaseOfThePreviousRelease(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		m := newMortal(t, kind, reviewed, "1h")
		databasetest.Previous(t, m.options)
		m.start(m.orders)
		m.settle()
		m.release("web", "1.1.0")
		m.post(m.pushedImages("1.1.0", "one", "web"))
		m.settle()
		m.pulls(stagingHead + " open")
		m.keptAll()
		m.process.end()
		m.calm()
	})
}

// recordPrevious makes the upgrade record what the previous release leaves.
var recordPrevious = flag.Bool("record-previous", false, "write the database and the state branch of the previous release to testdata")

// record writes what the previous release left: its database, and its state branch.
func (u *upgrade) record() {
	u.t.Helper()
	write := func(name, text string) {
		text = strings.NewReplacer(u.forge.Host(), "github.example.com", u.host, "registry.example.com").Replace(text)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			u.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			u.t.Fatal(err)
		}
	}
	for _, name := range strings.Fields(u.repo.Git.Run("ls-tree", "-r", "--name-only", state.Branch, "_all", "staging")) {
		write("../state/testdata/previous/"+name, u.repo.Git.Run("show", state.Branch+":"+name)+"\n")
	}
	if u.options.Path != "" {
		write("../database/databasetest/previous.sql", u.dump())
	}
}

// dump is the database of SQLite as statements for any database: the schema as the migrations
// of the release made it, and the rows. Bytes are x'...'.
func (u *upgrade) dump() string {
	u.t.Helper()
	schema, err := os.ReadFile(filepath.Join(filepath.Dir(u.older.Program), "schema.sql"))
	if err != nil {
		u.t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("-- Written by go test ./internal/app -run TestServe_upgraded -record-previous.\n" + string(schema))
	var tables []string
	u.each(u.t, "select name from sqlite_master where type = 'table' order by name", func(scan func(...any) error) error {
		tables = append(tables, "")
		return scan(&tables[len(tables)-1])
	})
	for _, table := range tables {
		fmt.Fprintf(&text, "delete from %s;\n", table)
		var columns, values []string
		u.each(u.t, "select name from pragma_table_info('"+table+"')", func(scan func(...any) error) error {
			columns = append(columns, "")
			return scan(&columns[len(columns)-1])
		})
		for _, column := range columns {
			values = append(values, "quote("+column+")")
		}
		u.each(u.t, "select "+strings.Join(values, " || ', ' || ")+" from "+table, func(scan func(...any) error) error {
			var row string
			err := scan(&row)
			fmt.Fprintf(&text, "insert into %s (%s) values (%s);\n", table, strings.Join(columns, ", "), row)
			return err
		})
	}
	return text.String()
}
