// Package snapshot reads and writes the sets of images that pipelines post, in two forms: a
// Snapshot resource and plain JSON. What a pipeline posts is a request: nothing here knows
// whether the images exist.
//
// A Snapshot resource is a Kubernetes resource of the group appstudio.redhat.com:
// https://github.com/konflux-ci/application-api/blob/main/config/crd/bases/appstudio.redhat.com_snapshots.yaml
package snapshot

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"promoter/internal/fault"
)

// Snapshot is a set of images, one for each component.
type Snapshot struct {
	Name        string
	UID         string // of the resource; empty: it has none
	Repository  string // the GitOps repository, HOST/OWNER/NAME; only in plain JSON
	Application string
	DisplayName string
	Description string
	Components  []Component
	Artifacts   json.RawMessage `json:",omitempty"` // unread; nil: none
}

// Component is one image with the name that the pipeline has for it.
type Component struct {
	Name  string
	Image string
}

// The limits of a snapshot, in bytes unless noted.
const (
	MaxComponents  = 100 // components
	MaxArtifacts   = 64 << 10
	maxName        = 253 // as of a Kubernetes resource
	maxText        = 4 << 10
	maxImage       = 1024
	maxApplication = 253
)

// The resource.
const (
	kind       = "Snapshot"
	group      = "appstudio.redhat.com"
	apiVersion = group + "/v1alpha1"
)

// Resource is a Snapshot resource.
type Resource struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	Spec       Spec     `json:"spec"`
}

// Metadata is the metadata of a resource.
type Metadata struct {
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

// Spec is the content of a resource.
type Spec struct {
	Application        string              `json:"application"`
	DisplayName        string              `json:"displayName,omitempty"`
	DisplayDescription string              `json:"displayDescription,omitempty"`
	Components         []ResourceComponent `json:"components,omitempty"`
	Artifacts          json.RawMessage     `json:"artifacts,omitempty"`
}

// ResourceComponent is a component of a resource.
type ResourceComponent struct {
	Name           string `json:"name"`
	ContainerImage string `json:"containerImage"`
}

// List is a list of resources.
type List struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Items      []Resource `json:"items"`
}

// ListOf returns resources as a list.
func ListOf(items []Resource) List {
	return List{APIVersion: apiVersion, Kind: kind + "List", Items: items}
}

// Plain is the plain form.
type Plain struct {
	Name        string            `json:"name,omitempty"`
	Description string            `json:"description,omitempty"`
	Repository  string            `json:"repository,omitempty"`
	Application string            `json:"application,omitempty"`
	Components  map[string]string `json:"components"` // images by name
	Artifacts   json.RawMessage   `json:"artifacts,omitempty"`
}

// ErrOtherKind is the error of a resource that is no Snapshot.
var ErrOtherKind = errors.New("it is no Snapshot")

// Parse reads a snapshot in either form. Fields that are not mentioned here are ignored.
func Parse(body []byte) (Snapshot, error) {
	var head struct {
		Kind       *string         `json:"kind"`
		APIVersion string          `json:"apiVersion"`
		Components json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return Snapshot{}, fault.JSON(err)
	}
	switch {
	case head.Kind == nil && head.Components == nil:
		return Snapshot{}, fault.New(fault.Invalid, "it has no kind")
	case head.Kind == nil:
		return parsePlain(body)
	case *head.Kind != kind:
		return Snapshot{}, fault.Wrap(fault.Invalid, ErrOtherKind)
	}
	if given, _, _ := strings.Cut(head.APIVersion, "/"); given != group {
		return Snapshot{}, fault.New(fault.Invalid, "its apiVersion is %.100q instead of %q", head.APIVersion, apiVersion)
	}
	return parseResource(body)
}

func parseResource(body []byte) (Snapshot, error) {
	var r Resource
	if err := json.Unmarshal(body, &r); err != nil {
		return Snapshot{}, fault.JSON(err)
	}
	s := Snapshot{
		Name: r.Metadata.Name, UID: r.Metadata.UID, Application: r.Spec.Application, DisplayName: r.Spec.DisplayName,
		Description: r.Spec.DisplayDescription, Artifacts: compact(r.Spec.Artifacts),
	}
	for _, c := range r.Spec.Components {
		s.Components = append(s.Components, Component{Name: c.Name, Image: c.ContainerImage})
	}
	return s, nil
}

func parsePlain(body []byte) (Snapshot, error) {
	var p Plain
	if err := json.Unmarshal(body, &p); err != nil {
		return Snapshot{}, fault.JSON(err)
	}
	s := Snapshot{
		Name: p.Name, Repository: p.Repository, Application: p.Application, Description: p.Description, Artifacts: compact(p.Artifacts),
	}
	for _, name := range slices.Sorted(maps.Keys(p.Components)) {
		s.Components = append(s.Components, Component{Name: name, Image: p.Components[name]})
	}
	return s, nil
}

// compact returns JSON without spaces; nil for none.
func compact(raw json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if len(raw) == 0 || json.Compact(&out, raw) != nil || out.String() == "null" {
		return nil
	}
	return out.Bytes()
}

// namePattern is what a name may be: it is part of a URL, and of commit messages.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// Named returns the snapshot with a name: one without gets that of its content, so that it is
// the same when it is posted again.
func (s Snapshot) Named() Snapshot {
	if s.Name == "" {
		hash := sha256.New()
		for _, c := range s.sorted() {
			hash.Write([]byte(c.Name + "=" + c.Image + "\n"))
		}
		s.Name = "snapshot-" + hex.EncodeToString(hash.Sum(nil))[:12]
	}
	return s
}

func (s Snapshot) sorted() []Component {
	return slices.SortedFunc(slices.Values(s.Components), func(a, b Component) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Image, b.Image))
	})
}

// Same reports whether two snapshots have the same images.
func (s Snapshot) Same(other Snapshot) bool { return slices.Equal(s.sorted(), other.sorted()) }

// Check returns an error if a snapshot is beyond the limits, or its name is not valid.
func (s Snapshot) Check() error {
	switch {
	case len(s.Name) > maxName || !namePattern.MatchString(s.Name):
		return fault.New(fault.Invalid, "its name %.100q is not valid: use up to %d letters, digits, dots, dashes, and underscores",
			s.Name, maxName)
	case len(s.Components) == 0:
		return fault.New(fault.Invalid, "it has no components")
	case len(s.Components) > MaxComponents:
		return fault.New(fault.Invalid, "it has more than %d components", MaxComponents)
	case len(s.Artifacts) > MaxArtifacts:
		return fault.New(fault.Invalid, "its artifacts are larger than %d KiB", MaxArtifacts>>10)
	case len(s.Application) > maxApplication:
		return fault.New(fault.Invalid, "the name of its application is longer than %d bytes", maxApplication)
	}
	for name, text := range map[string]string{"description": s.Description, "display name": s.DisplayName, "uid": s.UID} {
		if len(text) > maxText || !utf8.ValidString(text) {
			return fault.New(fault.Invalid, "its %s is longer than %d bytes, or is not UTF-8", name, maxText)
		}
	}
	for _, c := range s.Components {
		if len(c.Name) > maxName || len(c.Image) > maxImage {
			return fault.New(fault.Invalid, "the component %.100q has a name or an image that is too long", c.Name)
		}
	}
	return nil
}

// Plain returns the plain form. Of two components of one name, it has the last one.
func (s Snapshot) Plain() Plain {
	p := Plain{
		Name: s.Name, Description: s.Description, Repository: s.Repository, Application: s.Application,
		Components: map[string]string{}, Artifacts: s.Artifacts,
	}
	for _, c := range s.Components {
		p.Components[c.Name] = c.Image
	}
	return p
}

// Resource returns the Snapshot resource. Artifacts of the plain form become its unstable
// fields, because the resource has nothing else for them.
func (s Snapshot) Resource() Resource {
	r := Resource{
		APIVersion: apiVersion, Kind: kind, Metadata: Metadata{Name: s.Name, UID: s.UID},
		Spec: Spec{
			Application: s.Application, DisplayName: s.DisplayName, DisplayDescription: s.Description, Artifacts: s.resourceArtifacts(),
		},
	}
	for _, c := range s.Components {
		r.Spec.Components = append(r.Spec.Components, ResourceComponent{Name: c.Name, ContainerImage: c.Image})
	}
	return r
}

func (s Snapshot) resourceArtifacts() json.RawMessage {
	var object struct {
		Unstable json.RawMessage `json:"unstableFields"`
	}
	if s.Artifacts == nil || json.Unmarshal(s.Artifacts, &object) == nil && object.Unstable != nil {
		return s.Artifacts
	}
	return slices.Concat(json.RawMessage(`{"unstableFields":`), s.Artifacts, json.RawMessage("}"))
}
