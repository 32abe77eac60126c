package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// push pushes the image to REGISTRY/promoter and the chart to REGISTRY/charts/promoter, signs
// both, and prints their references.
func push(ctx context.Context, folder, to string, s signer, out io.Writer) error {
	if to == "" {
		return errors.New("-to is empty: name the registry")
	}
	charts, err := filepath.Glob(filepath.Join(folder, "promoter-*.tgz"))
	if err != nil || len(charts) != 1 {
		return fmt.Errorf("%s has %d charts, want 1", folder, len(charts))
	}
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(charts[0]), "promoter-"), ".tgz")
	image, err := pushImage(ctx, folder, to+"/promoter:"+version)
	if err != nil {
		return err
	}
	chart, err := pushChart(ctx, charts[0], to, version)
	if err != nil {
		return err
	}
	for _, reference := range []name.Digest{image, chart} {
		if err := s.signImage(ctx, folder, reference.String()); err != nil {
			return err
		}
		fmt.Fprintln(out, reference)
	}
	return nil
}

func pushImage(ctx context.Context, folder, to string) (name.Digest, error) {
	tag, err := name.NewTag(to)
	if err != nil {
		return name.Digest{}, err
	}
	digest, err := imageOf(folder)
	if err != nil {
		return name.Digest{}, err
	}
	root, err := layout.ImageIndexFromPath(filepath.Join(folder, imageFolder))
	if err != nil {
		return name.Digest{}, fmt.Errorf("read the image: %w", err)
	}
	index, err := root.ImageIndex(digest)
	if err != nil {
		return name.Digest{}, fmt.Errorf("read the image: %w", err)
	}
	if err := remote.WriteIndex(tag, index, registryOptions(ctx)...); err != nil {
		return name.Digest{}, fmt.Errorf("push %s: %w", tag, err)
	}
	return tag.Context().Digest(digest.String()), nil
}

// pushChart lets helm push, which writes the layers and annotations that helm expects.
func pushChart(ctx context.Context, file, to, version string) (name.Digest, error) {
	tag, err := name.NewTag(to + "/charts/promoter:" + version)
	if err != nil {
		return name.Digest{}, err
	}
	helm, err := tool(ctx, "helm")
	if err != nil {
		return name.Digest{}, err
	}
	args := []string{"push", file, "oci://" + to + "/charts"}
	if tag.Scheme() == "http" {
		args = append(args, "--plain-http")
	}
	if err := execute(ctx, nil, helm, args...); err != nil {
		return name.Digest{}, err
	}
	head, err := remote.Head(tag, registryOptions(ctx)...)
	if err != nil {
		return name.Digest{}, fmt.Errorf("read %s: %w", tag, err)
	}
	return tag.Context().Digest(head.Digest.String()), nil
}

// pull writes an image of a registry, for all platforms, to an OCI layout.
func pull(ctx context.Context, from, to string) error {
	reference, err := name.ParseReference(from)
	if err != nil {
		return err
	}
	index, err := remote.Index(reference, registryOptions(ctx)...)
	if err != nil {
		return fmt.Errorf("pull %s: %w", from, err)
	}
	if _, err := os.Stat(to); err == nil {
		return fmt.Errorf("%s exists", to)
	}
	written, err := layout.Write(to, empty.Index)
	if err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	if err := written.AppendIndex(index); err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	return nil
}

func registryOptions(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
}
