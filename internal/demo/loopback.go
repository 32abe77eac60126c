package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// loopback is an in-process server on loopback.
type loopback struct {
	host   string
	server *http.Server
	served chan error
}

func startLoopback(ctx context.Context, handler http.Handler) (*loopback, error) {
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on loopback: %w", err)
	}
	l := &loopback{
		host: listener.Addr().String(),
		server: &http.Server{
			Handler:           handler,
			ReadHeaderTimeout: 10 * time.Second,
			ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		},
		served: make(chan error, 1),
	}
	go func() { l.served <- l.server.Serve(listener) }()
	return l, nil
}

// stop stops the server and waits until it has stopped.
func (l *loopback) stop() error {
	err := l.server.Close()
	if served := <-l.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
