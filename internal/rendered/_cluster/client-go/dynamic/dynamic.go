// Package dynamic stands for the client that reads the objects of a cluster.
package dynamic

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Object is an object of a cluster, or a list of them.
type Object interface {
	UnstructuredContent() map[string]any
}

// ResourceInterface reads the objects of one kind.
type ResourceInterface interface {
	Get(ctx context.Context, name string, options metav1.GetOptions, subresources ...string) (Object, error)
	List(ctx context.Context, options metav1.ListOptions) (Object, error)
}

// NamespaceableResourceInterface reads them in all namespaces, or in one.
type NamespaceableResourceInterface interface {
	ResourceInterface
	Namespace(name string) ResourceInterface
}

// Interface reads objects of all kinds.
type Interface interface {
	Resource(resource schema.GroupVersionResource) NamespaceableResourceInterface
}

// NewForConfig returns an error.
func NewForConfig(*rest.Config) (Interface, error) { return nil, rest.ErrNoCluster }
