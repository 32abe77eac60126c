package database_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
)

// The database of the previous release gets the schema of a new one, and keeps its rows.
func TestOpen_databaseOfThePreviousRelease(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		options := kind.New(t)
		rows := databasetest.Previous(t, options)
		upgraded, fresh := databasetest.Open(t, options), databasetest.Open(t, kind.New(t))
		if diff := cmp.Diff(schemaOf(t, kind, fresh), schemaOf(t, kind, upgraded)); diff != "" {
			t.Errorf("the schema (-new +upgraded); a migration that was released never changes:\n%s", diff)
		}
		if len(rows) < 20 {
			t.Errorf("the previous release left only %d rows", len(rows))
		}
		for _, row := range rows {
			found := 0
			err := upgraded.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
				return tx.One(ctx, []any{&found}, "select count(*) from "+row.Table+" where ("+row.Columns+") = ("+row.Values+")")
			})
			if err != nil || found != 1 {
				t.Errorf("%d rows of %s (%s) = (%s): %v", found, row.Table, row.Columns, row.Values, err)
			}
		}
	})
}

// schemaOf lists the columns and indexes of a database.
func schemaOf(t *testing.T, kind databasetest.Kind, db *database.DB) (all []string) {
	t.Helper()
	columns := `select t.name || ' ' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || coalesce(c.dflt_value, '') || ' ' || c.pk
		from sqlite_master t, pragma_table_info(t.name) c where t.type = 'table' order by t.name, c.cid`
	indexes := "select sql from sqlite_master where type = 'index' and sql is not null order by name"
	if kind.Name != "SQLite" {
		columns = `select table_name || ' ' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '')
			from information_schema.columns where table_schema = current_schema() order by table_name, ordinal_position`
		indexes = "select replace(indexdef, current_schema() || '.', '') from pg_indexes where schemaname = current_schema() order by indexname"
	}
	err := db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		for _, query := range []string{columns, indexes} {
			err := tx.Query(ctx, func(scan database.Scan) error {
				var line string
				err := scan(&line)
				all = append(all, strings.Join(strings.Fields(line), " "))
				return err
			}, query)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
