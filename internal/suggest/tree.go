package suggest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"promoter/internal/edit"
)

// Paths of a tree without environments: the folders that may be applications.

// inside are folders within an application, in addition to parts.
var inside = set("app overlays manifest manifests deploy deployment kustomize k8s kubernetes helm chart resources")

// aside are folders whose files are not deployed, in addition to those that begin with a
// dot.
var aside = set("tests testdata fixtures examples example _example_ _scaffold docs hack")

// kinds are names of files that are parts of an application.
var kinds = set(`deployment deployments statefulset daemonset job cronjob pod rollout workload helmrelease helm-release release
	kustomization values chart app application all main manifest manifests resources`)

// isAside reports whether a folder of the path has files that are not deployed.
func isAside(file string) (folder string, ok bool) {
	segments := strings.Split(file, "/")
	for _, segment := range segments[:len(segments)-1] {
		name := strings.ToLower(segment)
		if aside[name] || strings.HasPrefix(name, ".") {
			return segment, true
		}
	}
	return "", false
}

// oneEnvironment returns a layout with the given environment only, whose paths are the folders
// with references, each of an application. It returns nil if there is only one.
func oneEnvironment(main Environment, references []edit.Reference) *layout {
	l := &layout{byFile: map[string]string{}, captures: true, reason: "Each folder with references is an application."}
	var roots [][]string
	excluded := map[string]bool{}
	for _, r := range references {
		file := r.Position.File
		if folder, ok := isAside(file); ok {
			excluded["**/"+folder+"/**"] = true
			continue
		}
		if !isPrintable(file) {
			continue
		}
		if _, known := l.byFile[file]; !known {
			l.byFile[file] = main.Name
			roots = append(roots, applicationFolder(file))
		}
	}
	for _, group := range groupRoots(roots) {
		main.Paths = append(main.Paths, group...)
	}
	main.Paths = simplify(main.Paths)
	main.Exclude = sortedKeys(excluded)
	l.environments = []Environment{main}
	names := map[string]bool{}
	for _, root := range roots {
		names[root[len(root)-1]] = true
	}
	inContainer := slices.ContainsFunc(roots, func(root []string) bool {
		return slices.ContainsFunc(root[:len(root)-1], func(folder string) bool { return containers[strings.ToLower(folder)] })
	})
	if len(names) < 2 && !inContainer {
		return nil
	}
	return l
}

// applicationFolder returns the segments of the folder of the application that a file
// belongs to; of the file itself if no folder can be one.
func applicationFolder(file string) []string {
	segments := strings.Split(file, "/")
	folders := segments[:len(segments)-1]
	for n := len(folders); n > 0; n-- {
		last := strings.ToLower(folders[n-1])
		if !inside[last] && !parts[last] {
			if containers[last] && n < len(folders) {
				return folders[:n+1] // apps/app
			}
			if containers[last] {
				break // the file is beside the applications
			}
			return folders[:n]
		}
	}
	if stem, _, _ := strings.Cut(strings.ToLower(segments[len(folders)]), "."); kinds[stem] && len(folders) > 0 {
		return folders
	}
	return segments
}

// groupRoots returns the paths of folders and files, by what they have in common: the
// folders at their beginning that hold many of a kind. In each, most folders decide at
// which depth applications are.
func groupRoots(roots [][]string) (paths [][]string) {
	groups := map[string][][]string{}
	for _, root := range roots {
		n := min(1, len(root)-1)
		for n < len(root)-1 && categories[strings.ToLower(root[n])] {
			n++
		}
		lead := strings.Join(root[:n], "/")
		groups[lead] = append(groups[lead], root)
	}
	for _, lead := range sortedKeys(groups) {
		group, depths := groups[lead], map[int]map[string]bool{}
		for _, root := range group {
			if depths[len(root)] == nil {
				depths[len(root)] = map[string]bool{}
			}
			depths[len(root)][strings.Join(root, "/")] = true
		}
		common := 0
		for depth, of := range depths {
			if common == 0 || cmp.Or(cmp.Compare(len(of), len(depths[common])), cmp.Compare(common, depth)) > 0 {
				common = depth
			}
		}
		var inGroup []string
		fixed := columnsOf(group, common)
		for _, root := range group {
			inGroup = append(inGroup, pathOfRoot(root, min(common, len(root)), fixed))
		}
		paths = append(paths, inGroup)
	}
	return paths
}

// columnsOf returns the one value of each column that has only one, in roots of at least
// that depth.
func columnsOf(roots [][]string, depth int) []string {
	values := make([]string, depth)
	first := true
	for _, root := range roots {
		if len(root) < depth {
			continue
		}
		for i := range values {
			if first {
				values[i] = root[i]
			} else if values[i] != root[i] {
				values[i] = "*"
			}
		}
		first = false
	}
	return values
}

// pathOfRoot returns the path in which the last of the segments is the application.
func pathOfRoot(root []string, depth int, fixed []string) string {
	segments := slices.Clone(root[:depth])
	if depth == len(fixed) {
		copy(segments, fixed)
	}
	last := depth - 1
	segments[last] = placeholder
	if base := root[last]; depth == len(root) && path.Ext(base) != "" && isManifest(base) {
		segments[last] += extensionOf(base)
	}
	return strings.Join(segments, "/")
}

// isManifest reports whether a name is that of a file rather than of a folder.
func isManifest(base string) bool {
	switch path.Ext(base) {
	case ".yaml", ".yml", ".json", ".gotmpl", ".tmpl":
		return true
	}
	return false
}
