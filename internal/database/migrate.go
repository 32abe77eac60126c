package database

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"promoter/internal/fault"
)

// migrations holds the tables, step by step. A file is NUMBER_NAME.sql for both
// databases, or NUMBER_NAME.sqlite.sql and NUMBER_NAME.postgresql.sql where they
// differ. Each statement ends with a semicolon at the end of a line. A step that was
// released is never changed, and leaves tables that the release before it can use,
// because replicas are replaced one after the other.
//
//go:embed migrations/*.sql
var migrations embed.FS

// step is one migration.
type step struct {
	version    int
	name       string
	statements []string
}

// migrationLock is the number of the advisory lock under which one replica changes
// the tables: "promoter" in ASCII.
const migrationLock = 0x70726f6d6f746572

// migrate does the steps that the database has not seen, all in one transaction.
func (d *DB) migrate(ctx context.Context) error {
	steps, err := readSteps(migrations, strings.ToLower(d.words.name))
	if err != nil {
		return err
	}
	return d.bringTo(ctx, steps)
}

func (d *DB) bringTo(ctx context.Context, steps []step) error {
	return d.Update(ctx, func(ctx context.Context, tx *Tx) error {
		if err := d.lockTables(ctx, tx); err != nil {
			return err
		}
		version, err := readVersion(ctx, tx)
		if err != nil {
			return err
		}
		if newest := len(steps); version > newest {
			return fault.New(fault.Invalid, "the database was used by a newer promoter (its tables are at step %d, this release knows %d); "+
				"run that release again, or restore the backup from before the upgrade", version, newest)
		}
		return doSteps(ctx, tx, steps[version:])
	})
}

// lockTables waits for a replica that is at it. SQLite's writer is alone anyway.
func (d *DB) lockTables(ctx context.Context, tx *Tx) error {
	if d.words.name == sqliteName {
		return nil
	}
	if _, err := tx.Exec(ctx, "set local lock_timeout = 0"); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "select pg_advisory_xact_lock("+strconv.Itoa(migrationLock)+")")
	return err
}

// readVersion returns how many steps the database has seen.
func readVersion(ctx context.Context, tx *Tx) (version int, err error) {
	const table = "create table if not exists schema_version (version bigint primary key, name text not null, applied_at bigint not null)"
	if _, err := tx.Exec(ctx, table); err != nil {
		return 0, err
	}
	err = tx.One(ctx, []any{&version}, "select coalesce(max(version), 0) from schema_version")
	return version, err
}

func doSteps(ctx context.Context, tx *Tx, steps []step) error {
	for _, one := range steps {
		for _, statement := range one.statements {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("step %d of the tables, %s: %w", one.version, one.name, err)
			}
		}
		_, err := tx.Exec(ctx, "insert into schema_version (version, name, applied_at) values (?, ?, @now)", one.version, one.name)
		if err != nil {
			return err
		}
	}
	return nil
}

// readSteps returns the steps of one database, in order and without a gap.
func readSteps(files fs.FS, database string) ([]step, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	slices.Sort(names)
	var steps []step
	for _, name := range names {
		one, mine, err := readStep(files, name, database)
		switch {
		case err != nil:
			return nil, err
		case !mine:
			continue
		case one.version != len(steps)+1:
			return nil, fault.New(fault.Internal, "%s: step %d is missing or there twice for %s", name, len(steps)+1, database)
		}
		steps = append(steps, one)
	}
	return steps, nil
}

func readStep(files fs.FS, path, database string) (one step, mine bool, err error) {
	base := strings.TrimSuffix(strings.TrimPrefix(path, "migrations/"), ".sql")
	base, only, _ := strings.Cut(base, ".")
	number, name, _ := strings.Cut(base, "_")
	version, err := strconv.Atoi(number)
	if err != nil {
		return step{}, false, fault.New(fault.Internal, "%s: the name does not begin with a number", path)
	}
	text, err := fs.ReadFile(files, path)
	if err != nil {
		return step{}, false, fmt.Errorf("migrations: %w", err)
	}
	one = step{version: version, name: name}
	for statement := range strings.SplitSeq(string(text), ";\n") {
		if statement = strings.TrimSpace(statement); statement != "" {
			one.statements = append(one.statements, statement)
		}
	}
	return one, only == "" || only == database, nil
}
