// Package schema has the names of API versions and kinds.
package schema

import "strings"

// GroupVersion is an API version: GROUP/VERSION, or VERSION of the core.
type GroupVersion struct{ Group, Version string }

// String returns it as manifests have it.
func (v GroupVersion) String() string {
	if v.Group == "" {
		return v.Version
	}
	return v.Group + "/" + v.Version
}

// GroupVersionKind is a kind of objects.
type GroupVersionKind struct{ Group, Version, Kind string }

// FromAPIVersionAndKind returns the kind of a manifest.
func FromAPIVersionAndKind(apiVersion, kind string) GroupVersionKind {
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "", apiVersion
	}
	return GroupVersionKind{Group: group, Version: version, Kind: kind}
}

// GroupVersion returns the API version of a kind.
func (k GroupVersionKind) GroupVersion() GroupVersion { return GroupVersion{k.Group, k.Version} }

// String returns the name of a kind.
func (k GroupVersionKind) String() string {
	return k.GroupVersion().String() + ", Kind=" + k.Kind
}

// GroupVersionResource is the path of a kind.
type GroupVersionResource struct{ Group, Version, Resource string }
