// Package v1 has the types of requests to a cluster.
package v1

// GetOptions are those of a request for one object.
type GetOptions struct{}

// ListOptions are those of a request for several.
type ListOptions struct{}

// APIResource is a kind of objects.
type APIResource struct {
	Name, Kind, Group, Version string
	Namespaced                 bool
}

// APIResourceList are the kinds of a cluster.
type APIResourceList struct{ APIResources []APIResource }
