package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// provenanceFile is an in-toto statement; predicateFile is its predicate alone, which cosign
// attaches to the image and the chart.
const (
	provenanceFile = "provenance.intoto.json"
	predicateFile  = "provenance.slsa.json"
	slsaType       = "https://slsa.dev/provenance/v1"
)

// statement is an in-toto statement with the provenance of SLSA 1.0.
// https://slsa.dev/spec/v1.0/provenance
type statement struct {
	Type          string     `json:"_type"`
	Subjects      []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     predicate  `json:"predicate"`
}

type resource struct {
	Name   string            `json:"name,omitempty"`
	Digest map[string]string `json:"digest"`
}

type predicate struct {
	Definition struct {
		Type         string            `json:"buildType"`
		External     map[string]string `json:"externalParameters"`
		Internal     map[string]string `json:"internalParameters"`
		Dependencies []resource        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	Details struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// provenance writes how the files were built. It has no time of the build, so that the same
// commit gives the same bytes.
func (r release) provenance() error {
	names, err := files(r.out)
	if err != nil {
		return err
	}
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: slsaType}
	for _, name := range names {
		sum, err := checksum(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		s.Subjects = append(s.Subjects, resource{Name: name, Digest: map[string]string{"sha256": sum}})
	}
	image, err := imageOf(r.out)
	if err != nil {
		return err
	}
	s.Subjects = append(s.Subjects, resource{Name: imageFolder, Digest: map[string]string{"sha256": image.Hex}})
	s.Predicate.Definition.Type = "urn:promoter:make-release:v1"
	s.Predicate.Definition.External = map[string]string{"version": r.version, "url": r.url}
	s.Predicate.Definition.Internal = map[string]string{"go": runtime.Version(), "modules": "go.sum of the commit"}
	s.Predicate.Definition.Dependencies = []resource{{Name: "promoter", Digest: map[string]string{"gitCommit": r.commit}}}
	s.Predicate.Details.Builder.ID = r.builder
	for name, value := range map[string]any{provenanceFile: s, predicateFile: s.Predicate} {
		text, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.out, name), append(text, '\n'), 0o644); err != nil { //nolint:gosec // releases are public
			return err
		}
	}
	return nil
}

// imageOf returns the digest of the image for all platforms in the folder of a release.
func imageOf(folder string) (v1.Hash, error) {
	index, err := layout.ImageIndexFromPath(filepath.Join(folder, imageFolder))
	if err != nil {
		return v1.Hash{}, fmt.Errorf("read the image: %w", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return v1.Hash{}, fmt.Errorf("read the image: %w", err)
	}
	if len(manifest.Manifests) != 1 {
		return v1.Hash{}, fmt.Errorf("the layout has %d images, want 1", len(manifest.Manifests))
	}
	return manifest.Manifests[0].Digest, nil
}
