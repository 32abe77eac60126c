package database

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// migrations contains the schema, step by step. A file is NUMBER_NAME.sql for both
// databases, or NUMBER_NAME.sqlite.sql and NUMBER_NAME.postgresql.sql where they
// differ. Each statement ends with a semicolon at the end of a line, or with a semicolon and
// a comment. A released migration never changes, and it leaves a schema that the previous
// release can use, because replicas are replaced one after the other; tests check both, and each
// start verifies the checksums of those that were applied.
//
//go:embed migrations/*.sql
var migrations embed.FS

type migration struct {
	version    int
	name       string
	statements []string
}

// migrationLock is the number of the advisory lock under which one replica migrates:
// "promoter" in ASCII.
const migrationLock = 0x70726f6d6f746572

// migrate applies the migrations that the database has not seen, in one transaction.
func (d *DB) migrate(ctx context.Context) error {
	steps, err := readMigrations(migrations, strings.ToLower(d.dialect.name))
	if err != nil {
		return err
	}
	return d.apply(ctx, steps)
}

// apply brings the schema to the last of the migrations. It has no timeout: another
// replica may be migrating.
func (d *DB) apply(ctx context.Context, steps []migration) error {
	return d.update(ctx, func(ctx context.Context, tx *Tx) error {
		if d.dialect.name != sqliteName {
			if _, err := tx.Exec(ctx, "set local lock_timeout = 0"); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock("+strconv.Itoa(migrationLock)+")"); err != nil {
				return err
			}
		}
		const table = "create table if not exists schema_version (version bigint primary key, name text not null, " +
			"applied_at bigint not null)"
		if _, err := tx.Exec(ctx, table); err != nil {
			return err
		}
		version, newest := 0, len(steps)
		if err := tx.One(ctx, []any{&version}, selectVersion); err != nil {
			return err
		}
		if version > newest {
			const problem = "the database was used by a newer promoter (its schema is version %d, this release knows %d); " +
				"run that release again, or restore the backup from before the upgrade"
			return fault.New(fault.Invalid, problem, version, newest)
		}
		for _, step := range steps[version:] {
			if err := step.run(ctx, tx); err != nil {
				return err
			}
		}
		return verify(ctx, tx, steps)
	})
}

// verify compares the migrations that were applied with those of this release. A difference means that the schema
// is another one than its version says, and that what follows may damage it. What was applied before there were
// checksums gets that of this release.
func verify(ctx context.Context, tx *Tx, steps []migration) error {
	applied := map[int]string{}
	err := tx.Query(ctx, func(scan Scan) error {
		var version int
		var checksum string
		err := scan(&version, &checksum)
		applied[version] = checksum
		return err
	}, "select version, checksum from schema_version order by version")
	if err != nil {
		return err
	}
	for _, step := range steps {
		switch checksum := applied[step.version]; checksum {
		case step.checksum():
		case "":
			const fill = "update schema_version set checksum = ? where version = ?"
			if _, err := tx.Exec(ctx, fill, step.checksum(), step.version); err != nil {
				return err
			}
		default:
			const problem = "migration %d, %s, was applied to the database as another one than this release has (checksum %s, not %s): " +
				"run the build that applied it, or restore a backup of a release"
			return fault.New(fault.Invalid, problem, step.version, step.name, checksum, step.checksum())
		}
	}
	return nil
}

// comment is the rest of a line of SQL; no literal of a migration contains two hyphens.
var comment = regexp.MustCompile(`--[^\n]*`)

// checksum returns 16 hex digits of what a migration does: comments and white space do not count.
func (m migration) checksum() string {
	var normal []string
	for _, statement := range m.statements {
		if words := strings.Fields(comment.ReplaceAllString(statement, "")); len(words) > 0 {
			normal = append(normal, strings.Join(words, " "))
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(normal, ";\n")))
	return hex.EncodeToString(sum[:8])
}

const selectVersion = "select coalesce(max(version), 0) from schema_version"

func (m migration) run(ctx context.Context, tx *Tx) error {
	for _, statement := range m.statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return fmt.Errorf("migration %d, %s: %w", m.version, m.name, err)
		}
	}
	_, err := tx.Exec(ctx, "insert into schema_version (version, name, applied_at) values (?, ?, @now)", m.version, m.name)
	return err
}

// readMigrations returns the migrations of one database, in order and without a gap.
func readMigrations(files fs.FS, database string) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	slices.Sort(names)
	var steps []migration
	for _, path := range names {
		base := strings.TrimSuffix(strings.TrimPrefix(path, "migrations/"), ".sql")
		base, only, _ := strings.Cut(base, ".")
		number, name, _ := strings.Cut(base, "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			return nil, fault.New(fault.Internal, "%s: the name does not begin with a number", path)
		}
		if only != "" && only != database {
			continue
		}
		if version != len(steps)+1 {
			return nil, fault.New(fault.Internal, "%s: migration %d is missing or duplicate for %s", path, len(steps)+1, database)
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, fmt.Errorf("migrations: %w", err)
		}
		step := migration{version: version, name: name}
		for statement := range strings.SplitSeq(string(text), ";\n") {
			if statement = strings.TrimSpace(statement); statement != "" {
				step.statements = append(step.statements, statement)
			}
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// SchemaVersion returns the schema version of a PostgreSQL database, 0 for none, and
// the version that this release migrates it to. It changes nothing.
func SchemaVersion(ctx context.Context, url secret.String) (at, known int, err error) {
	db, err := Options{URL: url}.open(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = db.Close() }() // it was only read
	steps, err := readMigrations(migrations, "postgresql")
	if err != nil {
		return 0, 0, err
	}
	err = db.View(ctx, func(ctx context.Context, tx *Tx) error {
		var exists bool
		if err := tx.One(ctx, []any{&exists}, "select to_regclass('schema_version') is not null"); err != nil || !exists {
			return err
		}
		return tx.One(ctx, []any{&at}, selectVersion)
	})
	if err == nil && at > len(steps) {
		err = fault.New(fault.Invalid,
			"the database was used by a newer promoter: its schema is version %d, this release knows %d", at, len(steps))
	}
	return at, len(steps), err
}
