package demo

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	fake "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// registry is an OCI registry on loopback.
type registry struct {
	*loopback
	*notifier
}

func startRegistry(ctx context.Context, now func() time.Time) (*registry, error) {
	silent := slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	n := &notifier{next: fake.New(fake.Logger(silent)), now: now}
	served, err := startLoopback(ctx, n)
	if err != nil {
		return nil, err
	}
	return &registry{loopback: served, notifier: n}, nil
}

// publish pushes images and fills in their digests.
func (r *registry) publish(ctx context.Context, versions ...version) ([]version, error) {
	published := make([]version, 0, len(versions))
	for _, v := range versions {
		var err error
		if v.digest, err = r.push(ctx, "acme/"+v.application, v.tag, v.created); err != nil {
			return nil, err
		}
		published = append(published, v)
	}
	return published, nil
}

func (r *registry) push(ctx context.Context, repository, tag string, created time.Time) (string, error) {
	ref, err := name.NewTag(r.host+"/"+repository+":"+tag, name.Insecure)
	if err != nil {
		return "", fmt.Errorf("name the image: %w", err)
	}
	image, err := build(repository, tag, created)
	if err != nil {
		return "", fmt.Errorf("make %s: %w", ref, err)
	}
	if err := remote.Write(ref, image, remote.WithContext(ctx)); err != nil {
		return "", fmt.Errorf("push %s: %w", ref, err)
	}
	digest, err := image.Digest()
	return digest.String(), err
}

// build returns an image without layers, which is enough for a digest.
func build(repository, tag string, created time.Time) (v1.Image, error) {
	image, err := mutate.CreatedAt(empty.Image, v1.Time{Time: created})
	if err != nil {
		return nil, err
	}
	return mutate.Config(image, v1.Config{Labels: map[string]string{
		"org.opencontainers.image.title":   repository,
		"org.opencontainers.image.version": tag,
	}})
}
