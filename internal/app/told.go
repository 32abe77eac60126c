package app

import (
	"log/slog"

	"promoter/internal/engine"
)

// aboutAct is where something was done, for its line in the log. A push has no pull
// request, and what was closed no commit.
func aboutAct(done engine.Effect) []any {
	about := []any{slog.String("environment", done.Environment.Name), slog.Any("applications", applicationsOf(done))}
	if done.Number != 0 {
		about = append(about, slog.Int("pull_request", done.Number))
	}
	if done.Commit != "" {
		about = append(about, slog.String("commit", done.Commit))
	}
	return about
}

// applicationsOf names what an act is about, the first of many.
func applicationsOf(done engine.Effect) []string {
	names := []string{}
	for _, decision := range done.Decisions[:min(len(done.Decisions), maxTold)] {
		names = append(names, decision.Application)
	}
	return names
}
