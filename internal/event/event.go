// Package event is what a webhook, a poll or a command can tell: that something
// may have changed. A hint is never data. It says where to look, and what is
// found there is asked from the registry and the forge as if nobody had said
// anything; a forged, lost or doubled one changes the moment and nothing else.
package event

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"promoter/internal/image"
)

// Kind is the closed set of what hints are about.
type Kind string

// The kinds of hints.
const (
	KindImage        Kind = "image"        // an image repository may have another version
	KindRelease      Kind = "release"      // a repository may have another release
	KindRepository   Kind = "repository"   // anything in a repository: a push, a pull request, a check
	KindComment      Kind = "comment"      // somebody may have written a command
	KindInstallation Kind = "installation" // the repositories that a forge lets us see
	KindHealth       Kind = "health"       // how something runs that deploys an environment
)

// Event says what may have changed, and where.
type Event struct {
	Kind       Kind
	Image      Image      // of KindImage
	Repository Repository // of the kinds of a forge; empty for an installation
	Number     int        // of the pull request, of KindComment
	Comment    int64      // its id, of KindComment
	Config     bool       `json:",omitzero"` // of KindRepository: the default branch, or the repository itself, is another
	Subject    string     // of KindHealth: KIND/NAMESPACE/NAME, in lower case but for the names
}

// Image is an image repository as a sender named it. Tag and digest are for the
// log: a sender may say what it likes.
type Image struct {
	Host   string // with its port; empty: the sender does not say, and any may be meant
	Path   string
	Tag    string
	Digest string
}

// Repository returns the image repository. It is zero where the sender named no
// host, or nothing that can be one.
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

// Is says whether the repository may be the one that was meant.
func (i Image) Is(r image.Repository) bool {
	if i.Host == "" {
		return strings.EqualFold(i.Path, r.Path())
	}
	return i.Repository() == r
}

// Repository is a repository of a forge as a sender named it.
type Repository struct {
	Host string // of the pages for people, with its port
	Name string // OWNER/NAME, of as many parts as the forge has; a rename changes it
	ID   string // on the forge; empty: the sender does not report it
}

// maxText bounds each text of a hint, in bytes: none of what it names is longer.
const maxText = 512

// Valid says whether the hint says something that can be looked for. What a sender
// leaves out or stretches makes no hint.
func (h Event) Valid() bool {
	for _, text := range []string{h.Image.Host, h.Image.Path, h.Image.Tag, h.Image.Digest, h.Repository.Host, h.Repository.Name, h.Repository.ID, h.Subject} {
		if len(text) > maxText || !utf8.ValidString(text) || strings.ContainsFunc(text, notPrintable) {
			return false
		}
	}
	switch h.Kind {
	case KindImage:
		return h.Image.Path != "" && (h.Image.Host == "" || !h.Image.Repository().IsZero())
	case KindRelease, KindRepository, KindComment:
		return h.Repository.Host != "" && (h.Repository.Name != "" || h.Repository.ID != "")
	case KindInstallation:
		return h.Repository.Host != ""
	case KindHealth:
		return h.Subject != ""
	}
	return false
}

func notPrintable(r rune) bool { return r <= ' ' || unicode.IsControl(r) }

// String says for people what is hinted at.
func (h Event) String() string {
	text := string(h.Kind)
	switch h.Kind {
	case KindImage:
		return text + " " + h.Image.String()
	case KindHealth:
		return text + " " + h.Subject
	}
	if name := h.Repository.Name; name != "" {
		return text + " " + h.Repository.Host + "/" + name
	}
	return text + " " + h.Repository.Host
}

// String is the image as its sender named it; a star stands for a host that was not
// said.
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
