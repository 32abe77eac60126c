// Package benchtree makes the large GitOps tree that the benchmarks read: many
// applications, each with one folder per environment, each folder with a
// kustomization that pins an image and a patch that does not. The same size
// always gives the same bytes, so that figures of two days can be compared.
//
// It is support code for benchmarks and tests; nothing of it is shipped.
package benchtree

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
)

// Size is the size of the tree. Every application has FilesPerFolder files
// in every environment.
type Size struct {
	Applications int
	Environments int
}

// FilesPerFolder is the number of files of one application in one environment:
// a kustomization.yaml, which holds the image, and a patch.yaml, which holds
// the application's name but no image. So half of the files match.
const FilesPerFolder = 2

// File is one file of the tree.
type File struct {
	Path    string // slash separated
	Content []byte
}

// Full is the size of the published figures: 2,000 applications in five
// environments, 20,000 files of about 350 bytes.
func Full() Size { return Size{Applications: 2000, Environments: 5} }

// Small is a twentieth of Full: 1,000 files. Together they show whether the
// time per file grows with the tree.
func Small() Size { return Size{Applications: 100, Environments: 5} }

// Len is the number of files.
func (s Size) Len() int { return s.Applications * s.Environments * FilesPerFolder }

// Tag is the tag that every image of a fresh tree has.
const Tag = "1.4.2"

// Registry is the host of all images.
const Registry = "registry.example.com"

// Image returns the repository of an application's image, counted from 0.
func Image(application int) string { return Registry + "/" + ImagePath(application) }

// ImagePath is where the image lies on its registry. There are 40 teams, so a team has
// many images and a registry many teams.
func ImagePath(application int) string {
	return fmt.Sprintf("team-%02d/service-%04d", application%40, application)
}

// Images returns the repositories of all images of the tree.
func (s Size) Images() []string {
	images := make([]string, s.Applications)
	for i := range images {
		images[i] = Image(i)
	}
	return images
}

// Files yields the tree in the order of a walk: by application, then by
// environment.
func (s Size) Files() iter.Seq[File] {
	return func(yield func(File) bool) {
		for app := range s.Applications {
			for env := range s.Environments {
				if !yield(kustomization(app, env)) || !yield(patch(app, env)) {
					return
				}
			}
		}
	}
}

// Write makes the tree below dir.
func (s Size) Write(dir string) error {
	for file := range s.Files() {
		path := filepath.Join(dir, filepath.FromSlash(file.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", file.Path, err)
		}
		if err := os.WriteFile(path, file.Content, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", file.Path, err)
		}
	}
	return nil
}

// folder is the place of one application in one environment.
func folder(app, env int) string {
	return fmt.Sprintf("apps/service-%04d/overlays/env-%d", app, env)
}

func kustomization(app, env int) File {
	const text = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: service-%04[1]d-env-%[2]d
resources:
  - ../../base
labels:
  - pairs:
      app.kubernetes.io/part-of: service-%04[1]d
      environment: env-%[2]d
    includeSelectors: false
images:
  - name: %[3]s
    newTag: %[4]q # released
patches:
  - path: patch.yaml
`
	return File{
		Path:    folder(app, env) + "/kustomization.yaml",
		Content: fmt.Appendf(nil, text, app, env, Image(app), Tag),
	}
}

func patch(app, env int) File {
	const text = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: service-%04[1]d
  annotations:
    example.com/owner: team-%02[2]d
spec:
  replicas: %[3]d
  template:
    spec:
      containers:
        - name: service-%04[1]d
          env:
            - name: LOG_LEVEL
              value: info
          resources:
            requests: {cpu: 100m, memory: 128Mi}
`
	return File{
		Path:    folder(app, env) + "/patch.yaml",
		Content: fmt.Appendf(nil, text, app, app%40, env+1),
	}
}
