package databasetest

import (
	"context"
	"database/sql"
	_ "embed" // the database of the previous release
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"

	"promoter/internal/database"
)

// previous is the database that the previous release left, as statements.
//
//go:embed previous.sql
var previous string

// blob is how the statements write bytes, as SQLite does.
var blob = regexp.MustCompile(`\bX'([0-9A-F]*)'`)

// Row is a row that the previous release wrote, with its columns and values as SQL.
type Row struct{ Table, Columns, Values string }

var row = regexp.MustCompile(`(?m)^insert into (\w+) \((.*?)\) values \((.*)\);$`)

// Previous makes an empty database one that the previous release used, before the present
// one opens it, and returns its rows.
func Previous(t testing.TB, o database.Options) (rows []Row) {
	t.Helper()
	text := previous
	if o.Path == "" {
		text = blob.ReplaceAllString(text, `'\x$1'`)
	}
	execute(t, o, text)
	for _, found := range row.FindAllStringSubmatch(text, -1) {
		rows = append(rows, Row{found[1], found[2], found[3]})
	}
	return rows
}

// execute runs statements on a database that is not opened.
func execute(t testing.TB, o database.Options, text string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if o.Path == "" {
		conn, err := pgx.Connect(ctx, o.URL.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(ctx) }()
		if _, err := conn.PgConn().Exec(ctx, text).ReadAll(); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(o.Path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, text); err != nil {
		t.Fatal(err)
	}
}
