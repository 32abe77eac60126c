package databasetest

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

func connect(ctx context.Context, server string) (*pgx.Conn, error) {
	return pgx.Connect(ctx, "postgres://promoter@"+server+"/postgres?sslmode=disable")
}

// newSchema makes an empty schema on the server of this test binary, which
// acts as a database of its own for users of its URL and takes a hundredth of the time.
// It is dropped at the end of the test.
func newSchema(t testing.TB) string {
	t.Helper()
	server := os.Getenv(serverVariable)
	if server == "" {
		reason := os.Getenv(reasonVariable)
		if reason == "" {
			t.Fatal("the package has no TestMain that calls databasetest.Main")
		}
		t.Skip(reason)
	}
	name := schemaName(t)
	run(t, server, "create schema "+name)
	t.Cleanup(func() { run(t, server, "drop schema "+name+" cascade") })
	return "postgres://promoter@" + server + "/postgres?sslmode=disable&search_path=" + name
}

// schemaName is one that no other test has, as no other has its temporary folder.
func schemaName(t testing.TB) string {
	t.Helper()
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(t.TempDir()))
	return fmt.Sprintf("test_%x", sum.Sum64())
}

// run makes one statement, also when the test is over.
func run(t testing.TB, server, statement string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := connect(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Error(err)
	}
}
