package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// baseName is what ko writes into the image as the name of its base. It has no port,
// which would be another each time, and ends in .localhost, which ko asks by plain HTTP.
const baseName = "made-here.localhost/base"

// serveBase offers our base to ko, which takes a base only from a registry: one in
// this process that ko reaches as its proxy. It returns what ko's environment has to
// say for that.
func serveBase(ctx context.Context) (env []string, stop func(), err error) {
	if err := download(ctx); err != nil {
		return nil, nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("serve the base: %w", err)
	}
	server := &http.Server{Handler: registry.New(registry.Logger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo))), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // ends with stop
	stop = func() { _ = server.Close() }
	address := listener.Addr().String()
	digest, err := pushBase(ctx, address)
	if err != nil {
		stop()
		return nil, nil, err
	}
	proxy := "http://" + address
	return []string{
		"KO_DEFAULTBASEIMAGE=" + baseName + "@" + digest,
		"HTTP_PROXY=" + proxy, "http_proxy=" + proxy, "NO_PROXY=", "no_proxy=",
		"GOPROXY=off", // ko's go build must not ask the proxy
	}, stop, nil
}

// download fetches the modules before ko starts.
func download(ctx context.Context) error {
	command := exec.CommandContext(ctx, "go", "mod", "download")
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("go mod download: %w", err)
	}
	return nil
}

// pushBase puts the base into the registry, where ko looks for it.
func pushBase(ctx context.Context, address string) (string, error) {
	base, err := newBase()
	if err != nil {
		return "", err
	}
	digest, err := base.Digest()
	if err != nil {
		return "", fmt.Errorf("the base: %w", err)
	}
	to, err := name.NewDigest(address + "/base@" + digest.String())
	if err != nil {
		return "", fmt.Errorf("the base: %w", err)
	}
	if err := remote.WriteIndex(to, base, remote.WithContext(ctx)); err != nil {
		return "", fmt.Errorf("serve the base: %w", err)
	}
	return digest.String(), nil
}
