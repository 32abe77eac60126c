package database

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"promoter/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func TestReadMigrations(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"0001_one.sql":            "-- why\ncreate table a (b text);\ncreate table c (d text default ';');\n",
		"0002_two.sqlite.sql":     "create table e (f blob);\n",
		"0002_two.postgresql.sql": "create table e (f bytea);\n",
		"0003_three.sql":          "drop table a;\n",
	} {
		files["migrations/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	for database, second := range map[string]string{"sqlite": "create table e (f blob)", "postgresql": "create table e (f bytea)"} {
		steps, err := readMigrations(files, database)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range steps {
			got = append(got, one.name+": "+strings.Join(one.statements, " | "))
		}
		want := []string{
			"one: -- why\ncreate table a (b text) | create table c (d text default ';')",
			"two: " + second, "three: drop table a",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", database, diff)
		}
	}
}

func TestReadMigrations_refuses(t *testing.T) {
	t.Parallel()
	for name, names := range map[string][]string{
		"a gap":                             {"0001_a.sql", "0003_c.sql"},
		"a duplicate":                       {"0001_a.sql", "0001_b.sql"},
		"no number":                         {"first.sql"},
		"only for one of the two databases": {"0001_a.sqlite.sql", "0002_b.sql"},
	} {
		files := fstest.MapFS{}
		for _, file := range names {
			files["migrations/"+file] = &fstest.MapFile{Data: []byte("select 1;\n")}
		}
		if _, err := readMigrations(files, "postgresql"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// openedOnDisk is a new SQLite database.
func openedOnDisk(t *testing.T) *DB {
	t.Helper()
	db, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "promoter.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// A newer release applies only the migrations that the database has not seen.
func TestMigrate_keepsDataOfAnOlderRelease(t *testing.T) {
	t.Parallel()
	db := openedOnDisk(t)
	steps, err := readMigrations(migrations, "sqlite")
	if err != nil {
		t.Fatal(err)
	}
	next := migration{version: len(steps) + 1, name: "next", statements: []string{
		"create table kept as select written_at from heartbeat", "insert into kept values (7)",
	}}
	for range 2 {
		if err := db.apply(t.Context(), append(steps, next)); err != nil {
			t.Fatal(err)
		}
	}
	rows := 0
	if err := db.View(t.Context(), func(ctx context.Context, tx *Tx) error {
		return tx.One(ctx, []any{&rows}, "select count(*) from kept")
	}); err != nil || rows != 2 {
		t.Errorf("%d rows, %v", rows, err)
	}
	if err := db.apply(t.Context(), steps); fault.KindOf(err) != fault.Invalid {
		t.Errorf("the older release again: %v", err)
	}
}

func TestMigrations_haveTheSameVersionsOnBothDatabases(t *testing.T) {
	t.Parallel()
	sqlite, err := readMigrations(migrations, "sqlite")
	if err != nil {
		t.Fatal(err)
	}
	postgres, err := readMigrations(migrations, "postgresql")
	if err != nil {
		t.Fatal(err)
	}
	if len(sqlite) != len(postgres) || len(sqlite) == 0 {
		t.Errorf("%d migrations on SQLite and %d on PostgreSQL", len(sqlite), len(postgres))
	}
}

// A migration that changed after it was applied keeps promoter from starting, also one that was applied before there
// were checksums. Comments and white space may change.
func TestMigrate_verifiesWhatWasApplied(t *testing.T) {
	t.Parallel()
	db := openedOnDisk(t)
	forget := func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, "update schema_version set checksum = '' where version = 3")
		return err
	}
	if err := db.Update(t.Context(), forget); err != nil {
		t.Fatal(err)
	}
	changed := func(version int, edit func(string) string) []migration {
		steps, err := readMigrations(migrations, "sqlite")
		if err != nil {
			t.Fatal(err)
		}
		one := &steps[version-1]
		one.statements = slices.Clone(one.statements)
		one.statements[0] = edit(one.statements[0])
		return steps
	}
	same := func(text string) string { return text }
	rewrapped := func(text string) string { return "-- another comment\n  " + strings.ReplaceAll(text, "\n", "\n\t") }
	other := func(text string) string { return text + " " + text }
	for _, test := range []struct {
		name    string
		version int
		edit    func(string) string
		refused bool
	}{
		{"as it was", 3, same, false},
		{"another comment", 2, rewrapped, false},
		{"another statement", 2, other, true},
		{"another statement, of before checksums", 3, other, true},
	} {
		err := db.apply(t.Context(), changed(test.version, test.edit))
		if (err != nil) != test.refused || err != nil && (fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "migration ")) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
