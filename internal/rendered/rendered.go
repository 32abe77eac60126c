// Package rendered shows what a promotion changes in the manifests that a GitOps engine
// applies: it builds the kustomizations, and renders the Helm charts, that contain the changed
// files, before and after, and compares the objects.
//
// The files come from Git objects, and users of the repository write them, so they are not
// trusted. Whatever needs the network, a plugin, or a program is refused before rendering
// (collect.go), and rendering happens in a child process with limits on memory, time, and open
// files, which leave it no way to open a socket (child.go, process.go).
package rendered

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// The kinds of what is rendered.
const (
	Kustomize = "kustomization"
	Helm      = "Helm chart"
)

// Limits of one rendering.
const (
	maxRoots     = 20        // kustomizations and charts
	maxFiles     = 2_000     // files that these consist of
	maxFile      = 1 << 20   // bytes of one file
	maxInput     = 16 << 20  // bytes of all files
	maxManifests = 16 << 20  // bytes of the manifests of one root
	maxDiff      = 200 << 10 // bytes of all differences
)

// Tree is the files of one commit.
type Tree interface {
	// Files lists the paths of all files.
	Files() ([]string, error)
	// Read returns a file. Larger files than the limit are an error.
	Read(path string, limit int64) ([]byte, error)
}

// Root is one kustomization or chart.
type Root struct {
	Kind   string   `json:"kind"`
	Folder string   `json:"folder"` // empty: the root of the repository
	Values []string `json:"values,omitempty"`
}

// Name returns the root as users know it.
func (r Root) Name() string {
	name := r.Kind + " " + r.Folder
	if r.Folder == "" {
		name = r.Kind + " ."
	}
	for _, file := range r.Values {
		name += " with " + path.Base(file)
	}
	return name
}

// request is what a child process renders: the roots, and the files that they consist of.
type request struct {
	Roots  []Root            `json:"roots"`
	Before map[string][]byte `json:"before"`
	After  map[string][]byte `json:"after"` // only those that differ
}

// Difference is what changes in one root.
type Difference struct {
	Root
	Objects int    `json:"objects"`           // how many objects differ
	Diff    string `json:"diff"`              // unified, of YAML; secrets are not shown
	Cut     bool   `json:"cut,omitempty"`     // Diff is not complete
	Problem string `json:"problem,omitempty"` // why it is not rendered; nothing else is set then
}

// Differences returns what changes in the manifests from one commit to the next, by root and
// sorted by folder. A root that cannot be rendered has the reason. The error is about all of
// it, and a Temporary fault if it may go away.
func (p Process) Differences(ctx context.Context, before, after Tree, changed []string) ([]Difference, error) {
	wanted, refused, err := collect(before, after, changed)
	if err != nil {
		return nil, fmt.Errorf("collect the files to render: %w", err)
	}
	found := refused
	if len(wanted.Roots) > 0 {
		rendered, err := p.render(ctx, wanted)
		if err != nil {
			return nil, err
		}
		found = append(found, rendered...)
	}
	slices.SortFunc(found, func(a, b Difference) int { return strings.Compare(a.Name(), b.Name()) })
	return found, nil
}
