// Package rendered shows what a promotion changes in the manifests that a GitOps engine
// applies: it builds the kustomizations, and renders the Helm charts, that contain the changed
// files, before and after, and compares the objects.
//
// The files come from Git objects, and users of the repository write them, so they are not
// trusted. Whatever needs the network, a plugin, or a program is refused before rendering
// (collect.go), and rendering happens in a child process with limits on memory, time, and open
// files, which leave it no way to open a socket (child.go, process.go).
//
// A few children run at once (pool.go), which of them fit into the memory of the container. Their
// processor time is charged to the budget of the reconciliation and to the owner of the repository,
// and what failed is not rendered again while nothing changes.
package rendered

import "path"

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

// Difference is what changes in one root.
type Difference struct {
	Root
	Objects int    `json:"objects"`           // how many objects differ
	Diff    string `json:"diff"`              // unified, of YAML; secrets are not shown
	Cut     bool   `json:"cut,omitempty"`     // Diff is not complete
	Problem string `json:"problem,omitempty"` // why it is not rendered; nothing else is set then
}
