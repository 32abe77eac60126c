package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// execute runs a program of the build with additional variables. Its output is for the user.
func execute(ctx context.Context, env []string, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...) //nolint:gosec // programs of the build
	command.Env = append(os.Environ(), env...)
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

// output runs a program and returns what it prints, without spaces around it.
func output(ctx context.Context, name string, args ...string) (string, error) {
	var text bytes.Buffer
	command := exec.CommandContext(ctx, name, args...) //nolint:gosec // programs of the build
	command.Stdout, command.Stderr = &text, os.Stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(text.String()), nil
}

// tool returns the path of a pinned tool, which is installed if it is absent.
func tool(ctx context.Context, name string) (string, error) {
	return output(ctx, "hack/tools", name)
}
