package scan

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
)

// policy returns the policy of the component of a reference; nil: it has none.
func (m *matcher) policy(target promotion.Target, reference edit.Reference) *image.Policy {
	environment, known := m.config.Environment(target.Environment)
	if !known {
		return nil
	}
	for _, owner := range m.config.Owners(environment, reference.Position.File, reference.Repository) {
		if owner.Match.Name == reference.Component {
			return m.config.Policy(owner.Match.Component)
		}
	}
	return nil
}

// How well a place shows which version is there.
type shown int

const (
	showsNever shown = iota
	showsLater       // once promoter has written it
	showsNow         // in a text that was made of the version
	namesIt
)

// derive separates the places that have only what was made of a version, such as {version}, from the references that have the
// version itself. Where a component has no others, the version is read from them, if it has only one tag. What never shows the
// version is refused then: no file shows which one is there.
func (m *matcher) derive(target promotion.Target, current promotion.Current) promotion.Current {
	references := slices.Clone(current.References)
	places := make([]shown, len(references))
	best := map[string]shown{} // by component
	for i, r := range references {
		places[i] = namesIt
		if r.IsDerived() {
			references[i].Tag, places[i] = readFrom(r, m.policy(target, r))
		}
		best[r.Component] = max(best[r.Component], places[i])
	}
	current.References, current.Derived = nil, nil
	for i, r := range references {
		if places[i] < best[r.Component] {
			r.Tag = "" // of a text that is only compared
			current.Derived = append(current.Derived, r)
			continue
		}
		current.References = append(current.References, r)
		if places[i] == showsNever {
			current.Refusals = append(current.Refusals, edit.Refusal{
				File: r.Position.File, Line: r.Position.Line, Component: r.Component,
				Reason: fmt.Sprintf("only %s is made of the version of %s here, so that no file shows which version it is: "+
					"name the image in a file, or write {tag} or {digest} too", r.Template, r.Component),
			})
		}
	}
	return current
}

// readFrom returns the tag whose version is in a derived place, and how well the place shows the version.
func readFrom(r edit.Reference, policy *image.Policy) (tag string, how shown) {
	switch {
	case strings.Contains(r.Template, "{tag}"), strings.Contains(r.Template, "{digest}"):
		return "", showsLater
	case !strings.Contains(r.Template, "{version}") || !policy.DeterminesTags():
		return "", showsNever
	}
	read := edit.ReadTemplate(r.Template, r.Text)
	tag, ok := policy.TagOf(read.Version)
	if text, known := r.Derive(policy.Named(image.Version{Tag: tag, Revision: read.Revision})); !ok || !known || text != r.Text {
		return "", showsLater
	}
	return tag, showsNow
}
