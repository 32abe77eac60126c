// Package event describes what may have changed, as reported by a webhook. An event is a
// trigger and never data: digests come from the registry and pull requests from the forge,
// with or without it. A forged, lost, or duplicated event changes when a reconciliation
// runs, and nothing else.
package event

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"promoter/internal/image"
)

// Kind is the subject of an event.
type Kind string

// The kinds of events.
const (
	KindImage        Kind = "image"        // an image repository may have a new version
	KindRelease      Kind = "release"      // a repository may have a new release
	KindRepository   Kind = "repository"   // anything in a repository: a push, a pull request, a check
	KindComment      Kind = "comment"      // a comment that may contain a command
	KindInstallation Kind = "installation" // the repositories that an installation can access
	KindHealth       Kind = "health"       // the health of an object that deploys an environment
)

// Event names what may have changed.
type Event struct {
	Kind       Kind
	Image      Image      // of KindImage
	Repository Repository // of the kinds of a forge; empty for an installation; of KindHealth where the source names it
	Number     int        // of the pull request, of KindComment
	Comment    int64      // the ID on the forge, of KindComment
	// Digest identifies the command of a new comment. It only tightens: a comment that has
	// another command when it is read is refused.
	Digest  string `json:",omitzero"`
	Config  bool   `json:",omitzero"` // of KindRepository: the default branch or the repository itself changed
	Subject string // of KindHealth: the object, as in health.Report
}

// Image is an image repository as named by a sender. Tag and digest are only logged: they
// are not verified.
type Image struct {
	Host   string // with its port; empty matches any host
	Path   string
	Tag    string
	Digest string
}

// Repository returns the image repository, or zero for an image without a host or with an
// invalid name.
func (i Image) Repository() image.Repository {
	if i.Host == "" {
		return image.Repository{}
	}
	r, err := image.ParseRepository(i.Host + "/" + i.Path)
	if err != nil {
		return image.Repository{}
	}
	return r
}

// Matches reports whether the image is in the repository.
func (i Image) Matches(r image.Repository) bool {
	if i.Host == "" {
		return strings.EqualFold(i.Path, r.Path())
	}
	return i.Repository() == r
}

// Repository is a repository of a forge as named by a sender.
type Repository struct {
	Host string // of the web pages, or of the address that plain Git clones from; with its port
	Name string // OWNER/NAME, or more parts where the forge has groups; the path of such an address; a rename changes it
	ID   string // on the forge; empty: the sender does not report it
}

// maxText limits each text of an event, in bytes. No valid name is longer.
const maxText = 512

// Valid reports whether the event names an object, with printable texts of limited length.
func (e Event) Valid() bool {
	for _, text := range []string{
		e.Image.Host, e.Image.Path, e.Image.Tag, e.Image.Digest,
		e.Repository.Host, e.Repository.Name, e.Repository.ID,
		e.Subject, e.Digest,
	} {
		if len(text) > maxText || !utf8.ValidString(text) || strings.ContainsFunc(text, notPrintable) {
			return false
		}
	}
	switch e.Kind {
	case KindImage:
		return e.Image.Path != "" && (e.Image.Host == "" || !e.Image.Repository().IsZero())
	case KindRelease, KindRepository, KindComment:
		return e.Repository.Host != "" && (e.Repository.Name != "" || e.Repository.ID != "")
	case KindInstallation:
		return e.Repository.Host != ""
	case KindHealth:
		return e.Subject != ""
	}
	return false
}

func notPrintable(r rune) bool { return r <= ' ' || unicode.IsControl(r) }

// String returns the kind and the object, for users.
func (e Event) String() string {
	text := string(e.Kind)
	switch e.Kind {
	case KindImage:
		return text + " " + e.Image.String()
	case KindHealth:
		if e.Repository.Host == "" {
			return text + " " + e.Subject
		}
		text += " " + e.Subject + " of"
	}
	if name := e.Repository.Name; name != "" {
		return text + " " + e.Repository.Host + "/" + name
	}
	return text + " " + e.Repository.Host
}

// String returns the image as named by its sender, with a star for an unknown host.
func (i Image) String() string {
	text := cmp.Or(i.Host, "*") + "/" + i.Path
	if i.Tag != "" {
		text += ":" + i.Tag
	}
	if i.Digest != "" {
		text += "@" + i.Digest
	}
	return text
}
