package faults

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"promoter/hack/process"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
)

// BenchmarkData damages what the service stores, in one way after the other. After each, a
// new version must be promoted within a minute.
func BenchmarkData(b *testing.B) {
	program := process.Build(b)
	for _, one := range []struct {
		name   string
		damage func(*stored)
	}{
		{"process-killed", (*stored).restart},
		{"mirror-deleted", func(s *stored) { s.each("mirrors", os.Remove) }},
		{"mirror-truncated", func(s *stored) { s.each("mirrors", func(file string) error { return os.Truncate(file, 7) }) }},
		{"mirror-overwritten", func(s *stored) { s.each("mirrors", overwrite) }},
		{"database-deleted", (*stored).deleteDatabase},
		{"database-overwritten", (*stored).overwriteDatabase},
		{"database-unreachable", (*stored).cutDatabase},
		{"disk-full", (*stored).fillDisk},
	} {
		b.Run(one.name, func(b *testing.B) {
			s := newStored(b, program, one.name)
			worst := time.Duration(0)
			for b.Loop() {
				one.damage(s)
				s.tenant.release(b)
				s.tenant.notify(b, s.process)
				worst = max(worst, s.settle([]*tenant{s.tenant})[one.name])
				s.tenant.sound(b)
			}
			b.ReportMetric(worst.Seconds(), "s:"+one.name)
			b.ReportMetric(0, "ns/op")
			s.process.Stop(b)
		})
	}
}

// stored is a service whose files are damaged.
type stored struct {
	campaign
	tenant  *tenant
	data    string
	options process.Options
	wire    *databasetest.Wire // of its database; nil: it is a file
}

func newStored(b *testing.B, program, name string) *stored {
	b.Helper()
	s := &stored{campaign: campaign{b: b}, tenant: newTenant(b, fault{name: name, on: "github"}), data: filepath.Join(b.TempDir(), "data")}
	var o database.Options
	address := ""
	if name == "database-unreachable" {
		s.wire, o = databasetest.NewWire(b)
		address = `database: {url: "env:DATABASE"}`
	}
	tenants := []*tenant{s.tenant}
	s.options = process.Options{
		Program: program, Config: serverFile(s.data, address, tenants),
		Environment: append(tokens(tenants), "DATABASE="+o.URL.Reveal()),
	}
	if name == "disk-full" {
		s.options.Within = smallDisk(b, s.data)
	}
	s.process = process.Start(b, s.options)
	s.tenant.release(b)
	s.tenant.notify(b, s.process)
	s.settle(tenants)
	return s
}

// each damages all files below a folder of the data.
func (s *stored) each(folder string, damage func(file string) error) {
	s.b.Helper()
	files := 0
	err := filepath.WalkDir(filepath.Join(s.data, folder), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		return damage(file)
	})
	if err != nil || files == 0 {
		s.b.Fatalf("%d files are damaged, %v", files, err)
	}
}

// overwrite replaces the content of a file by noise of the same size.
func overwrite(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	noise := make([]byte, info.Size())
	_, _ = rand.Read(noise)
	return errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, noise, 0o600))
}

func (s *stored) restart() {
	s.b.Helper()
	s.tenant.release(s.b)
	s.tenant.notify(s.b, s.process)
	s.process.Kill()
	s.process = process.Start(s.b, s.options)
}

// database lists the files of SQLite.
func (s *stored) database() []string {
	s.b.Helper()
	files, err := filepath.Glob(filepath.Join(s.data, "promoter.db*"))
	if err != nil || len(files) == 0 {
		s.b.Fatalf("the database is not in %s, %v", s.data, err)
	}
	return files
}

// deleteDatabase deletes the files of a running process, which is not ready any more.
func (s *stored) deleteDatabase() {
	s.b.Helper()
	for _, file := range s.database() {
		if err := os.Remove(file); err != nil {
			s.b.Fatal(err)
		}
	}
	s.until("it is ready without a database", func() bool { return s.process.Ready(s.b) == http.StatusServiceUnavailable })
	s.restart()
}

// overwriteDatabase damages the files of a running process. The next one does not start until
// they are moved away.
func (s *stored) overwriteDatabase() {
	s.b.Helper()
	s.process.Kill()
	for _, file := range s.database() {
		if err := overwrite(file); err != nil {
			s.b.Fatal(err)
		}
	}
	refused := process.Launch(s.b, s.options)
	if code := refused.Wait(s.b, limit); code == 0 || !strings.Contains(refused.Log(s.b), "damaged") {
		s.b.Fatalf("a process with a damaged database ended with %d:\n%s", code, refused.Log(s.b))
	}
	for _, file := range s.database() {
		if err := os.Rename(file, file+".damaged"); err != nil {
			s.b.Fatal(err)
		}
	}
	s.process = process.Start(s.b, s.options)
}

// cutDatabase disconnects PostgreSQL for some seconds. Nothing is accepted meanwhile.
func (s *stored) cutDatabase() {
	s.b.Helper()
	s.wire.Cut()
	s.refuses()
	<-time.After(outage())
	s.wire.Restore()
	s.until("it is not ready again", func() bool { return s.process.Ready(s.b) == http.StatusOK })
}

// outage is how long a database or a disk is unusable.
func outage() time.Duration {
	if testing.Short() {
		return time.Second
	}
	return faultFor
}

// refuses checks that a webhook is refused which cannot be stored.
func (s *stored) refuses() {
	s.b.Helper()
	s.until("a webhook is accepted that cannot be stored", func() bool { return s.tenant.post(s.b, s.process) == http.StatusServiceUnavailable })
}

// smallDisk returns a command that runs a program with a file system of its own for the
// data. The benchmark is skipped where the system does not permit it.
func smallDisk(b *testing.B, data string) []string {
	b.Helper()
	within := []string{"unshare", "--user", "--map-root-user", "--mount", "sh", "-c", `mkdir -p "$0" && mount -t tmpfs -o size=32m tmpfs "$0" && exec "$@"`, data}
	if out, err := exec.CommandContext(b.Context(), within[0], append(within[1:], "true")...).CombinedOutput(); err != nil {
		b.Skipf("no user may mount a file system here: %v\n%s", err, out)
	}
	return within
}

// fillDisk fills the disk for some seconds. Nothing is accepted meanwhile.
func (s *stored) fillDisk() {
	s.b.Helper()
	name := filepath.Join("/proc", strconv.Itoa(s.process.PID()), "root", s.data, "filler")
	filler, err := os.Create(name)
	if err != nil {
		s.b.Fatal(err)
	}
	for block := make([]byte, 4<<10); err == nil; {
		_, err = filler.Write(block)
	}
	s.refuses()
	<-time.After(outage())
	if err := errors.Join(filler.Close(), os.Remove(name)); err != nil {
		s.b.Fatal(err)
	}
}

// until waits for a condition.
func (s *stored) until(otherwise string, met func() bool) {
	s.b.Helper()
	for late := time.Now().Add(limit); !met(); <-time.After(interval) {
		if time.Now().After(late) {
			s.b.Fatal(otherwise)
		}
	}
}
