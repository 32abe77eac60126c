package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// How long a client may take, and how much it may say before its body.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// Listen answers on the listener until the context ends; then it answers what has
// begun, for at most the time to drain, and returns nil.
func (s *Server) Listen(ctx context.Context, listener net.Listener, drain time.Duration) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(lines{s.Log.Handler()}, slog.LevelDebug),
	}
	serve := server.Serve
	if s.TLS != nil { // with HTTP/2
		server.TLSConfig = s.TLS.Clone()
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	ended := make(chan error, 1)
	go func() { ended <- serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("listen on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := server.Shutdown(draining); err != nil {
		return errors.Join(fmt.Errorf("answer what had begun: %w", err), server.Close())
	}
	return nil
}
