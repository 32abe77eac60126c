package database

import (
	"context"
	"database/sql"
	"time"

	"promoter/internal/fault"
)

// checkTime is how long opening looks for damage: a file of some 100 MB is looked
// through whole, and of a larger one the beginning. Work must go on within a second.
const checkTime = 300 * time.Millisecond

// checkFile refuses a file that is damaged or belongs to another program.
func (d *DB) checkFile(ctx context.Context, path string, conn *sql.Conn) error {
	tables, ours := 0, 0
	const count = "select count(*), count(case when name = 'schema_version' then 1 end) from sqlite_master where type = 'table'"
	if err := conn.QueryRowContext(ctx, count).Scan(&tables, &ours); err != nil {
		return d.explain(ctx, err)
	}
	if tables > 0 && ours == 0 {
		return fault.New(fault.Invalid, "the database file %s is another program's: it has %d tables, and none is promoter's; name another path", path, tables)
	}
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	said := ""
	err := conn.QueryRowContext(limited, "pragma quick_check(1)").Scan(&said)
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		return nil // too large to look at all of it now
	case err != nil:
		return d.explain(ctx, err)
	case said != "ok":
		return fault.New(fault.Invalid, "the database file %s %s: %s", path, damage, said)
	}
	return nil
}
