package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"promoter/internal/fault"
)

// exitTimeout is how long the final message of a failed service is waited for.
const exitTimeout = 5 * time.Second

// program is the transport to a service that runs as a program, on another host over
// ssh or as a local process.
type program struct {
	stdin     io.WriteCloser
	stdout    io.Reader
	stderr    serverText    // to be read only after exited
	exited    chan struct{} // closed when the program has ended and stderr is complete
	end       func() error  // releases the connection or the process
	requested bool
}

// startLocal runs the service on a repository of the local disk.
func startLocal(ctx context.Context, e Endpoint, service Service) (transport, error) {
	failed := func(err error) error {
		return fault.New(fault.Invalid, "run git, which file:// needs on the PATH: %w", err)
	}
	reader, writer, err := os.Pipe() // Cmd.StdoutPipe must not be read during Cmd.Wait
	if err != nil {
		return nil, failed(err)
	}
	p := &program{stdout: reader, exited: make(chan struct{}), end: reader.Close}
	path := e.path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // of /C:/repository
	}
	name := strings.TrimPrefix(string(service), "git-")
	command := exec.CommandContext(ctx, "git", name, path) //nolint:gosec // a path that begins with a hyphen was refused
	command.Stdout, command.Stderr = writer, &p.stderr
	command.WaitDelay = exitTimeout // a hook may keep stderr open
	p.stdin, err = command.StdinPipe()
	if err == nil {
		err = command.Start()
	}
	_ = writer.Close() // the process has its own
	if err != nil {
		_ = reader.Close()
		return nil, failed(err)
	}
	go func() {
		defer close(p.exited)
		_ = command.Wait() // stderr has the reason
	}()
	return p, nil
}

func (p *program) advertisement(context.Context) (io.Reader, error) { return p.stdout, nil }

func (p *program) exchange(ctx context.Context, request []byte) (io.ReadCloser, error) {
	p.requested = true
	_, err := io.Copy(p.stdin, bytes.NewReader(request))
	if err == nil {
		err = p.stdin.Close()
	}
	// Its response has the reason, or is complete: it may exit before its input is closed.
	ended := errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
	if err != nil && !ended {
		return nil, p.explain(ctx, err)
	}
	return io.NopCloser(p.stdout), nil
}

// explain waits until the program has ended, because its messages arrive beside its
// response and often later.
func (p *program) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fault.Wrap(fault.Temporary, context.Cause(ctx))
	}
	_ = p.stdin.Close() // the program may be waiting for it
	go func() { _, _ = io.Copy(io.Discard, p.stdout) }()
	timeout := time.NewTimer(exitTimeout)
	defer timeout.Stop()
	select {
	case <-p.exited:
		if text := p.stderr.String(); text != "" && fault.KindOf(err) == fault.Internal {
			return serverError(text)
		}
	case <-timeout.C:
	case <-ctx.Done():
	}
	return classify(err)
}

// Close ends the program. One that got no request gets an empty one first, so that
// it does not report an error.
func (p *program) Close() error {
	if !p.requested {
		_, _ = io.WriteString(p.stdin, "0000") // it may have ended already
	}
	_ = p.stdin.Close()
	err := p.end()
	<-p.exited
	return err
}
