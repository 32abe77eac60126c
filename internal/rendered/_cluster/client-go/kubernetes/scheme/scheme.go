// Package scheme names the API versions of Kubernetes without their types.
package scheme

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Registry is a set of API versions.
type Registry struct{ versions []schema.GroupVersion }

// Scheme has those that k8s.io/client-go of the version in go.mod knows.
var Scheme = known()

// groups are the groups with their versions.
var groups = [][2]string{
	{"", "v1"},
	{"admissionregistration.k8s.io", "v1 v1alpha1 v1beta1"},
	{"apps", "v1 v1beta1 v1beta2"},
	{"authentication.k8s.io", "v1 v1alpha1 v1beta1"},
	{"authorization.k8s.io", "v1 v1beta1"},
	{"autoscaling", "v1 v2"},
	{"batch", "v1 v1beta1"},
	{"certificates.k8s.io", "v1 v1alpha1 v1beta1"},
	{"coordination.k8s.io", "v1 v1alpha2 v1beta1"},
	{"discovery.k8s.io", "v1 v1beta1"},
	{"events.k8s.io", "v1 v1beta1"},
	{"extensions", "v1beta1"},
	{"flowcontrol.apiserver.k8s.io", "v1 v1beta1 v1beta2 v1beta3"},
	{"internal.apiserver.k8s.io", "v1alpha1"},
	{"lifecycle.k8s.io", "v1alpha1"},
	{"networking.k8s.io", "v1 v1beta1"},
	{"node.k8s.io", "v1 v1alpha1 v1beta1"},
	{"policy", "v1 v1beta1"},
	{"rbac.authorization.k8s.io", "v1 v1alpha1 v1beta1"},
	{"resource.k8s.io", "v1 v1alpha3 v1beta1 v1beta2"},
	{"scheduling.k8s.io", "v1 v1alpha3 v1beta1"},
	{"storage.k8s.io", "v1 v1alpha1 v1beta1"},
	{"storagemigration.k8s.io", "v1 v1beta1"},
}

func known() *Registry {
	r := &Registry{}
	for _, group := range groups {
		for version := range strings.FieldsSeq(group[1]) {
			r.Add(schema.GroupVersion{Group: group[0], Version: version})
		}
	}
	return r
}

// Add adds an API version.
func (r *Registry) Add(version schema.GroupVersion) { r.versions = append(r.versions, version) }

// PrioritizedVersionsAllGroups returns all API versions.
func (r *Registry) PrioritizedVersionsAllGroups() []schema.GroupVersion { return r.versions }
