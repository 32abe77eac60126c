package database

import (
	"context"
	"net/url"
	"os"

	"promoter/internal/fault"
)

// own takes the SQLite file for this process alone. Leases of work are freed when
// the file is opened, so a second process would do everything twice. The lock is an
// exclusive transaction on an empty file beside it, which the operating system gives
// up when the process ends, however it ends.
func (d *DB) own(ctx context.Context, path string) error {
	lock := path + ".lock"
	file, err := os.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return unwritable(lock, err)
	}
	if err := file.Close(); err != nil {
		return unwritable(lock, err)
	}
	conn, err := d.single(ctx, address(lock, url.Values{"_pragma": {"busy_timeout(0)"}}))
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "begin exclusive"); isBusy(err) {
		return fault.New(fault.Conflict, "another promoter uses the database file %s; "+
			"one file is for one process: stop the other one, or use PostgreSQL for several", path)
	} else if err != nil {
		return d.explain(ctx, err)
	}
	return nil
}
