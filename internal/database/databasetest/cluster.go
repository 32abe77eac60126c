package databasetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// The environment tells the tests of a binary, and the processes that they start,
// where the server is, or why there is none.
const (
	serverVariable = "PROMOTER_TEST_POSTGRESQL"
	reasonVariable = "PROMOTER_TEST_POSTGRESQL_REASON"
)

// Main runs the tests of a package with a PostgreSQL server beside them. The server has more
// settings, as in "shared_buffers=1GB".
func Main(m *testing.M, settings ...string) {
	if os.Getenv(serverVariable) == "" {
		stop, err := start(settings...)
		if err != nil {
			_ = os.Setenv(reasonVariable, err.Error())
		} else {
			defer stop()
		}
	}
	m.Run()
}

// Start starts a PostgreSQL server for a single test, in a package without Main.
func Start(t testing.TB) {
	t.Helper()
	if os.Getenv(serverVariable) != "" {
		return
	}
	stop, err := start()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		stop()
		_ = os.Unsetenv(serverVariable)
	})
}

// errAbsent reports that the programs of PostgreSQL are not installed.
var errAbsent = errors.New("no PostgreSQL here: neither initdb and postgres nor PROMOTER_POSTGRESQL was found")

// start makes a cluster in a temporary folder and starts its server on loopback.
func start(settings ...string) (stop func(), err error) {
	programs, err := findPrograms()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "promoter-postgresql-")
	if err != nil {
		return nil, err
	}
	c := cluster{programs: programs, folder: folder, settings: settings}
	if err := c.start(); err != nil {
		c.stop()
		return nil, err
	}
	return c.stop, os.Setenv(serverVariable, "127.0.0.1:"+strconv.Itoa(c.port))
}

// findPrograms returns the folder of initdb and postgres.
func findPrograms() (string, error) {
	if named := os.Getenv("PROMOTER_POSTGRESQL"); named != "" {
		return named, nil
	}
	if found, err := exec.LookPath("initdb"); err == nil {
		// The programs look for their files beside where they really are.
		target, err := filepath.EvalSymlinks(found)
		return filepath.Dir(target), err
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errAbsent
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// cluster is a server under way.
type cluster struct {
	programs, folder string
	settings         []string
	port             int
	command          *exec.Cmd
	leash            io.Closer // the server ends when this is closed, or its holder dies
}

// leash runs a server until its standard input ends, then removes its folder.
const leash = `"$@" & server=$!; cat >/dev/null; kill -INT $server; wait $server; rm -rf "$PROMOTER_FOLDER"`

func (c *cluster) start() error {
	as, err := anotherUser(c.folder)
	if err != nil {
		return err
	}
	data := filepath.Join(c.folder, "data")
	initdb := append(as, filepath.Join(c.programs, "initdb"), "--pgdata", data, "--username", "promoter",
		"--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync")
	if out, err := exec.Command(initdb[0], initdb[1:]...).CombinedOutput(); err != nil { //nolint:noctx // it ends by itself
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if c.port, err = freePort(); err != nil {
		return err
	}
	server := append(as, filepath.Join(c.programs, "postgres"), "-D", data, "-p", strconv.Itoa(c.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=400",
		"-c", "shared_buffers=64MB", "-c", "log_min_messages=fatal")
	for _, setting := range c.settings {
		server = append(server, "-c", setting)
	}
	return c.run(server)
}

func (c *cluster) run(server []string) error {
	c.command = exec.Command("sh", append([]string{"-c", leash, "sh"}, server...)...) //nolint:noctx // it ends with its leash
	c.command.Env = append(os.Environ(), "PROMOTER_FOLDER="+c.folder)
	var said bytes.Buffer
	c.command.Stdout, c.command.Stderr = &said, &said
	held, err := c.command.StdinPipe()
	if err != nil {
		return err
	}
	c.leash = held
	if err := c.command.Start(); err != nil {
		return err
	}
	if err := c.answers(); err != nil {
		return fmt.Errorf("the server does not answer: %w\n%s", err, said.String())
	}
	return nil
}

// answers waits until a database can be made.
func (c *cluster) answers() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := connect(ctx, "127.0.0.1:"+strconv.Itoa(c.port))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}

func (c *cluster) stop() {
	if c.leash != nil {
		_ = c.leash.Close()
		_ = c.command.Wait()
	}
	_ = os.RemoveAll(c.folder)
}

// anotherUser gives the folder away when the tests run as root, whom the server
// refuses, and returns what to put before its commands.
func anotherUser(folder string) ([]string, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	const nobody = 65534
	if _, err := exec.LookPath("setpriv"); err != nil {
		return nil, errors.New("PostgreSQL does not run as root, and there is no setpriv")
	}
	id := strconv.Itoa(nobody)
	return []string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups"}, os.Chown(folder, nobody, nobody)
}

// freePort returns a port below the ephemeral range of systems (32768 and up
// on Linux, 49152 elsewhere): no other test gets it until the server has it.
func freePort() (port int, err error) {
	for range 100 {
		port = 16384 + rand.IntN(16384)
		listener, refused := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)) //nolint:noctx // it answers at once
		if refused == nil {
			return port, listener.Close()
		}
		err = refused
	}
	return 0, err
}
