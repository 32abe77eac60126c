package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// builder runs ko, whose own settings are in .ko.yaml.
type builder struct {
	ko, base, version, url, out string
}

// build writes the OCI layout, and beside it a folder with the list of what is in it.
func (b builder) build(ctx context.Context) error {
	if b.ko == "" {
		return errors.New("-ko is empty: hack/tools ko installs it and prints its path")
	}
	if err := b.clear(); err != nil {
		return err
	}
	env, err := b.environment(ctx)
	if err != nil {
		return err
	}
	if b.base == "" {
		served, stop, err := serveBase(ctx)
		if err != nil {
			return err
		}
		defer stop()
		env = append(env, served...)
	} else {
		env = append(env, "KO_DEFAULTBASEIMAGE="+b.base)
	}
	command := exec.CommandContext(ctx, b.ko, b.arguments()...) //nolint:gosec // the caller names the program
	command.Env, command.Stderr = env, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("ko: %w", err)
	}
	fmt.Fprintf(os.Stderr, "%s has the image for %s\n", b.out, strings.Join(platformNames(), " and "))
	return nil
}

// clear removes an older layout, and nothing that is none.
func (b builder) clear() error {
	entries, err := os.ReadDir(b.out)
	if errors.Is(err, os.ErrNotExist) || (err == nil && len(entries) == 0) {
		return nil
	}
	if _, err := os.Stat(filepath.Join(b.out, "oci-layout")); err != nil {
		return fmt.Errorf("%s is there and is no OCI layout: %w", b.out, err)
	}
	return errors.Join(os.RemoveAll(b.out), os.RemoveAll(b.out+"-sbom"))
}

func (b builder) arguments() []string {
	version := b.version
	if version == "" {
		version = "dev"
	}
	return []string{
		"build", "--push=false", "--bare", "--oci-layout-path=" + b.out, "--sbom=spdx", "--sbom-dir=" + b.out + "-sbom",
		"--platform=" + strings.Join(platformNames(), ","),
		"--image-label=org.opencontainers.image.title=promoter",
		"--image-label=org.opencontainers.image.version=" + version,
		"--image-label=org.opencontainers.image.licenses=Apache-2.0",
		"./cmd/promoter",
	}
}

func platformNames() []string {
	var names []string
	for _, platform := range platforms() {
		names = append(names, platform.String())
	}
	return names
}

// environment sets the creation time of the image to the time of the commit, so that the
// same commit makes the same image.
func (b builder) environment(ctx context.Context) ([]string, error) {
	env := append(os.Environ(), "VERSION="+b.version, "RELEASE_URL="+b.url, "KO_DOCKER_REPO=promoter.localhost/promoter")
	command := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct")
	var text bytes.Buffer
	command.Stdout, command.Stderr = &text, os.Stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("the time of the commit: %w", err)
	}
	return append(env, "SOURCE_DATE_EPOCH="+strings.TrimSpace(text.String())), nil
}
