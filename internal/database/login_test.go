package database_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/secret/secrettest"
)

// A new connection logs in as the file of the URL says by then. A file that has no URL keeps the
// login before.
func TestOpen_followsTheFileOfItsURL(t *testing.T) {
	t.Parallel()
	o := databasetest.Kinds()[1].New(t)
	admin := databasetest.Open(t, o)
	ask := func(db *database.DB, into any, text string, args ...any) {
		t.Helper()
		err := db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error { return tx.One(ctx, []any{into}, text, args...) })
		if err != nil {
			t.Fatal(err)
		}
	}
	var schema string
	ask(admin, &schema, "select current_schema()::text")
	users := []string{"first_" + schema, "second_" + schema}
	contents := make([]map[string]string, len(users))
	for i, user := range users {
		if err := admin.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			_, err := tx.Exec(ctx, `create role "`+user+`" login superuser`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		address, err := url.Parse(o.URL.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		address.User = url.UserPassword(user, "password")
		contents[i] = map[string]string{"url": address.String()}
	}
	mount := secrettest.NewMount(t, contents[0])
	db := databasetest.Open(t, database.Options{URL: mount.Secret("url")})
	loggedIn := func(want string) {
		t.Helper()
		var got string
		ask(db, &got, "select current_user::text")
		if got != want {
			t.Errorf("logged in as %s, want %s", got, want)
		}
		var ended int64
		ask(admin, &ended, "select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = ?", strings.ToLower(got))
		if ended == 0 {
			t.Fatal("no connection was ended")
		}
	}
	loggedIn(users[0])
	mount.Swap(contents[1])
	mount.Later()
	loggedIn(users[1])
	mount.Swap(map[string]string{"url": "no URL"})
	mount.Later()
	loggedIn(users[1])
	if problems := mount.Files.Problems(); len(problems) != 1 || problems[0].Use != "database.url" || strings.Contains(problems[0].Reason, "no URL") {
		t.Errorf("%v", problems)
	}
}
