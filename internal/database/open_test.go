package database_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to damage files

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/fault"
	"promoter/internal/secret"
)

// refused opens a database that can not be opened.
func refused(t *testing.T, o database.Options, kind fault.Kind, words ...string) {
	t.Helper()
	db, err := database.Open(t.Context(), o)
	if err == nil {
		t.Fatal("it was opened", db.Close())
	}
	if fault.KindOf(err) != kind {
		t.Errorf("%v is %s, want %s", err, fault.KindOf(err), kind)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error lacks %q: %v", word, err)
		}
	}
}

func TestOpen_requiresExactlyOneDatabase(t *testing.T) {
	t.Parallel()
	refused(t, database.Options{Now: time.Now}, fault.Invalid, "path")
	refused(t, database.Options{Now: time.Now, Path: "a", URL: secret.New("postgres://b")}, fault.Invalid, "path")
	refused(t, database.Options{Path: filepath.Join(t.TempDir(), "a.db")}, fault.Internal, "clock")
}

func TestOpen_keepsDataAcrossRestarts(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		o := kind.New(t)
		first, err := database.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		table(t, first)
		if err := insert(first, "kept", 1); err != nil {
			t.Fatal(err)
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if err := first.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
		if err := insert(first, "late", 1); fault.KindOf(err) != fault.Temporary {
			t.Errorf("a write after closing: %v", err)
		}
		if kept := number(t, databasetest.Open(t, o), "select count(*) from thing"); kept != 1 {
			t.Errorf("%d rows", kept)
		}
	})
}

func TestOpen_refusesTheDatabaseOfANewerRelease(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		o := kind.New(t)
		db := databasetest.Open(t, o)
		update(t, db, "insert into schema_version (version, name, applied_at) values (9999, 'tomorrow', @now)")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		refused(t, o, fault.Invalid, "newer promoter", "9999", "backup")
	})
}

// TestOpen_migratesOnceForConcurrentReplicas starts replicas on an empty database.
func TestOpen_migratesOnceForConcurrentReplicas(t *testing.T) {
	t.Parallel()
	o := databasetest.Kinds()[1].New(t)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			db, err := database.Open(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Healthy(t.Context()); err != nil {
				t.Error(err)
			}
			_ = db.Close()
		})
	}
	all.Wait()
}

func file(t *testing.T) database.Options {
	t.Helper()
	return database.Options{Path: filepath.Join(t.TempDir(), "folder", "promoter ü%20?#.db"), Now: time.Now}
}

func TestOpen_refusesASecondProcessOnAnSQLiteFile(t *testing.T) {
	t.Parallel()
	o := file(t)
	db := databasetest.Open(t, o)
	refused(t, o, fault.Conflict, "another promoter process uses", o.Path, "PostgreSQL")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	databasetest.Open(t, o)
}

func TestOpen_createsFilesForTheOwnerOnly(t *testing.T) {
	t.Parallel()
	o := file(t)
	db := databasetest.Open(t, o)
	if err := db.Healthy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(filepath.Dir(o.Path), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestOpen_refusesADamagedFile(t *testing.T) {
	t.Parallel()
	t.Run("no database at all", func(t *testing.T) {
		t.Parallel()
		o := database.Options{Path: filepath.Join(t.TempDir(), "a.db"), Now: time.Now}
		if err := os.WriteFile(o.Path, []byte(strings.Repeat("promoter", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, o, fault.Invalid, o.Path, "damaged", "backup", "Git")
	})
	t.Run("a page was lost", func(t *testing.T) {
		t.Parallel()
		o := file(t)
		db := databasetest.Open(t, o)
		table(t, db)
		for i := range 300 {
			if err := insert(db, strings.Repeat("x", 200)+string(rune('A'+i)), i); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		damageFile(t, o.Path)
		refused(t, o, fault.Invalid, o.Path, "damaged", "backup")
	})
	t.Run("another program's", func(t *testing.T) {
		t.Parallel()
		o := database.Options{Path: filepath.Join(t.TempDir(), "a.db"), Now: time.Now}
		other, err := sql.Open("sqlite", o.Path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.ExecContext(t.Context(), "create table bookmarks (url text)"); err != nil {
			t.Fatal(err)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		refused(t, o, fault.Invalid, "another program")
	})
}

// damageFile overwrites what follows the first pages.
// A file that is damaged while promoter runs is found by what reads it. The service is not ready from then on, although other
// parts of the file can be written.
func TestHealthy_reportsDamageThatWasFound(t *testing.T) {
	t.Parallel()
	o := file(t)
	db := databasetest.Open(t, o)
	update(t, db, "create table large (content text not null)")
	for range 100 { // more than the cache has
		update(t, db, "insert into large (content) values (?)", strings.Repeat("x", 100<<10))
	}
	if err := db.Close(); err != nil { // and writes all of it to the file
		t.Fatal(err)
	}
	db = databasetest.Open(t, o)
	damageFile(t, o.Path)
	if err := db.Healthy(t.Context()); err != nil {
		t.Fatalf("before it is read: %v", err)
	}
	read := db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		return tx.One(ctx, []any{new(int)}, "select count(*) from large where content like '%y%'")
	})
	if fault.KindOf(read) != fault.Invalid || !strings.Contains(read.Error(), "damaged") {
		t.Fatalf("read: %v", read)
	}
	if err := db.Healthy(t.Context()); err == nil || err.Error() != read.Error() {
		t.Errorf("healthy: %v, want %v", err, read)
	}
}

func damageFile(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil || info.Size() < 40<<10 {
		t.Fatalf("the file is too small: %v, %v", info.Size(), err)
	}
	for at := int64(16 << 10); at < info.Size(); at += 4096 {
		if _, err := file.WriteAt([]byte(strings.Repeat("\xa5", 512)), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOpen_refusesAReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	blocked := filepath.Join(folder, "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, database.Options{Path: filepath.Join(blocked, "a.db"), Now: time.Now}, fault.Invalid, "directory that promoter can write to")
	refused(t, database.Options{Path: folder, Now: time.Now}, fault.Invalid, folder, "directory that promoter can write to")
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	refused(t, database.Options{Path: filepath.Join(folder, "a.db"), Now: time.Now}, fault.Invalid, "directory that promoter can write to")
}

func TestOpen_explainsConnectionErrors(t *testing.T) {
	t.Parallel()
	const password = "correct-horse"
	const closed = "127.0.0.1:1" // no process gets this port
	for name, test := range map[string]struct {
		url   string
		kind  fault.Kind
		words []string
	}{
		"another scheme":    {"mysql://me:" + password + "@" + closed + "/a", fault.Invalid, []string{"postgres://"}},
		"no URL":            {"postgres://me:" + password + "@[::1/a%zz", fault.Invalid, []string{"cannot be parsed", "escapes"}},
		"nobody listens":    {"postgres://me:" + password + "@" + closed + "/a?sslmode=disable", fault.Temporary, []string{closed, "user me", "cannot be reached"}},
		"a file is missing": {"postgres://me:" + password + "@" + closed + "/a?sslmode=verify-full&sslrootcert=/nowhere", fault.Invalid, []string{"files"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := database.Options{URL: secret.New(test.url)}
			refused(t, o, test.kind, test.words...)
			_, err := database.Open(t.Context(), o)
			for unwrapped := err; unwrapped != nil; unwrapped = errors.Unwrap(unwrapped) {
				if strings.Contains(unwrapped.Error(), password) {
					t.Errorf("the password is in %v", unwrapped)
				}
			}
		})
	}
}

func TestOpen_explainsRefusalsOfTheServer(t *testing.T) {
	t.Parallel()
	given := databasetest.Kinds()[1].New(t).URL.Reveal()
	with := func(from, to string) database.Options {
		return database.Options{URL: secret.New(strings.Replace(given, from, to, 1))}
	}
	refused(t, with("/postgres?", "/nothing?"), fault.Invalid, "nothing", "create it")
	refused(t, with("?", "?default_transaction_read_only=on&"), fault.Temporary, "read-only", "target_session_attrs")
	refused(t, with("promoter@", "nobody:guess@"), fault.Unauthorized, "user or the password")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := database.Open(ctx, with("", "")); fault.KindOf(err) != fault.Temporary {
		t.Errorf("without time: %v", err)
	}
}
