package load

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/secret"
)

// bareVariable names the database of a process of this test binary that is the bare
// loop and nothing else: a path, or a URL of PostgreSQL.
const bareVariable = "PROMOTER_LOAD_BARE"

// startBare starts it on a database of its own.
func startBare(b *testing.B, o database.Options) *process {
	b.Helper()
	command := exec.CommandContext(b.Context(), os.Args[0])
	command.Env = append(os.Environ(), bareVariable+"="+o.Path+o.URL.Reveal())
	return start(b, command)
}

// serveBare is the least that a receiver of webhooks does: it reads the body, checks
// its HMAC, puts it into a table in a transaction that all share who wait, and answers.
func serveBare(address string) error {
	options := database.Options{Path: address}
	if address[0] != '/' {
		options = database.Options{URL: secret.New(address)}
	}
	rows, err := databasetest.OpenBare(context.Background(), options)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, `{"msg": "listening", "address": %q}`+"\n", listener.Addr())
	server := http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 2<<20))
		if err != nil || !hmac.Equal([]byte(r.Header.Get("X-Signature")), []byte(signatureOf(body))) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var told struct{ ID string }
		if err = json.Unmarshal(body, &told); err == nil {
			err = rows.Keep(told.ID, body)
		}
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})}
	return server.Serve(listener)
}
