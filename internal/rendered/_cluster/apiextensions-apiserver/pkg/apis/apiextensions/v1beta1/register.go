// Package v1beta1 names the API version of custom resource definitions without its types.
package v1beta1

import "k8s.io/apimachinery/pkg/runtime/schema"

// AddToScheme adds the API version.
func AddToScheme(to interface {
	Add(version schema.GroupVersion)
},
) error {
	to.Add(schema.GroupVersion{Group: "apiextensions.k8s.io", Version: "v1beta1"})
	return nil
}
