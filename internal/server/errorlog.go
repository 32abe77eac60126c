package server

import (
	"context"
	"log/slog"
	"strings"
)

// lines take what net/http says, with the level of debugging. Nearly all tells what
// strangers do wrong; that no connection can be accepted is a failure of this process,
// as of one that has too many files open.
type lines struct{ slog.Handler }

// Enabled implements slog.Handler: what a line says is seen later.
func (l lines) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (l lines) Handle(ctx context.Context, line slog.Record) error {
	if strings.HasPrefix(line.Message, "http: Accept error") {
		line.Level = slog.LevelError
	}
	if !l.Handler.Enabled(ctx, line.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, line)
}
