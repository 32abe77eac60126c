package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// sshPatience is how long the last words of a service are waited for, after it
// has failed.
const sshPatience = 5 * time.Second

// sshWire is a session over ssh: a program on the other machine.
type sshWire struct {
	client  *ssh.Client
	session *ssh.Session
	in      io.WriteCloser
	out     io.Reader
	said    words         // by the program, to a person; to be read after ended
	ended   chan struct{} // the program has said its last word
	asked   bool
	release func() bool // lets go of the context
}

// dialSSH connects to the remote and starts the service there.
func dialSSH(ctx context.Context, r Remote, remote address, asked service, credential Credential) (*sshWire, error) {
	config, keys, err := sshConfig(r, remote, credential)
	if err != nil {
		return nil, err
	}
	conn, err := r.Dial(ctx, "tcp", remote.endpoint())
	if err != nil {
		return nil, failed(fmt.Errorf("reach the server: %w", err))
	}
	// A context that ends ends the connection, and so whatever waits on it.
	release := context.AfterFunc(ctx, func() { _ = conn.Close() })
	w, err := startSSH(conn, remote, asked, config)
	if err != nil {
		release()
		_ = conn.Close() // it failed already
		return nil, keys.explain(ctx, err)
	}
	w.release = release
	return w, nil
}

// startSSH shakes hands and starts the service.
func startSSH(conn net.Conn, remote address, asked service, config *ssh.ClientConfig) (*sshWire, error) {
	secure, channels, requests, err := ssh.NewClientConn(conn, remote.endpoint(), config)
	if err != nil {
		return nil, err //nolint:wrapcheck // explained by the caller
	}
	w := &sshWire{client: ssh.NewClient(secure, channels, requests), ended: make(chan struct{})}
	if err := w.start(string(asked) + " " + quoted(remote.path)); err != nil {
		_ = w.client.Close() // it failed already
		return nil, err
	}
	return w, nil
}

func (w *sshWire) start(command string) (err error) {
	if w.session, err = w.client.NewSession(); err != nil {
		return fmt.Errorf("open a session: %w", err)
	}
	w.session.Stderr = &w.said
	if w.in, err = w.session.StdinPipe(); err != nil {
		return fmt.Errorf("open a session: %w", err)
	}
	if w.out, err = w.session.StdoutPipe(); err != nil {
		return fmt.Errorf("open a session: %w", err)
	}
	if err := w.session.Start(command); err != nil {
		return fmt.Errorf("start the service: %w", err)
	}
	go func() {
		defer close(w.ended)
		_ = w.session.Wait() // how it ended is told by what it said
	}()
	return nil
}

// quoted makes a path one word for the shell on the other side.
func quoted(path string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(path) + "'"
}

func (w *sshWire) advertisement(context.Context) (io.Reader, error) {
	return boundedAdvertisement(w.out), nil
}

func (w *sshWire) exchange(ctx context.Context, asked []byte) (io.ReadCloser, error) {
	w.asked = true
	_, err := io.Copy(w.in, bytes.NewReader(asked))
	if err == nil {
		err = w.in.Close()
	}
	if err != nil && !errors.Is(err, io.EOF) { // at its end the service says why itself
		return nil, w.explain(ctx, err)
	}
	return io.NopCloser(w.out), nil
}

// explain waits until the program has ended, because its words arrive beside its
// answer and often after it, and makes the error of them.
func (w *sshWire) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fault.Wrap(fault.Temporary, context.Cause(ctx))
	}
	_ = w.in.Close() // an end is what it may be waiting for
	go func() { _, _ = io.Copy(io.Discard, w.out) }()
	patience := time.NewTimer(sshPatience)
	defer patience.Stop()
	select {
	case <-w.ended:
		if text := w.said.String(); text != "" && fault.KindOf(err) == fault.Internal {
			return fromServer(text)
		}
	case <-patience.C:
	case <-ctx.Done():
	}
	return said(err)
}

// Close ends the session. A service that was asked nothing is told so, which
// lets it end in peace.
func (w *sshWire) Close() error {
	if !w.asked {
		_, _ = io.WriteString(w.in, "0000") // it may be gone already
	}
	w.release()
	err := w.client.Close()
	<-w.ended
	if err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.EOF) {
		return fmt.Errorf("close the connection: %w", outbound.Redact(err))
	}
	return nil
}
