package app_test

import (
	"errors"
	"time"

	"promoter/internal/registry/registrytest"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// release pushes an image that was built a minute ago.
func (s *story) release(component, tag string) string {
	s.t.Helper()
	return s.image(component, tag, component+" "+tag, s.clock.Now().Add(-time.Minute))
}

// image pushes an image with its time; different seeds give different digests.
func (s *story) image(component, tag, seed string, created time.Time) string {
	return s.labeled(component, tag, created, map[string]string{"seed": seed})
}

// sourced pushes an image of web with the label of its source commit.
func (s *story) sourced(tag, revision string) string {
	return s.labeled("web", tag, s.clock.Now().Add(-time.Minute), map[string]string{"org.opencontainers.image.revision": revision})
}

// made is when an image was built.
func (s *story) made(version string) time.Time { return s.times[version] }

func (s *story) labeled(component, tag string, created time.Time, labels map[string]string) string {
	s.t.Helper()
	target, err := name.NewTag(s.host + "/acme/" + component + ":" + tag)
	if err != nil {
		s.t.Fatal(err)
	}
	made, err := mutate.Config(empty.Image, v1.Config{Labels: labels})
	if err == nil {
		made, err = mutate.CreatedAt(made, v1.Time{Time: created.Truncate(time.Second)})
	}
	digest, digestErr := made.Digest()
	if err := errors.Join(err, digestErr, remote.Write(target, made, remote.WithTransport(registrytest.Transport{}))); err != nil {
		s.t.Fatal(err)
	}
	s.digests[component+":"+tag] = digest.String()
	s.times[component+":"+tag] = created
	return digest.String()
}

// line is a version as a file contains it, such as web:1.0.0.
func (s *story) line(version string) string {
	return s.host + "/acme/" + version + "@" + s.digests[version]
}

// manifest is the file of an application with these versions.
func (s *story) manifest(versions ...string) string {
	text := "kind: Deployment\ncontainers:\n"
	for _, version := range versions {
		text += "  - image: " + s.line(version) + "\n"
	}
	return text
}

// tree is a repository with a config and these versions in every environment.
func (s *story) tree(config string, versions ...string) map[string]string {
	files := map[string]string{".promoter.yaml": s.expand(config)}
	for _, environment := range []string{"dev", "staging", "prod"} {
		files[environment+"/shop.yaml"] = s.manifest(versions...)
	}
	return files
}
