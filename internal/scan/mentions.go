package scan

import (
	"slices"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/updater"
)

// options returns how the updater reads files.
func (m *matcher) options(maxFileSize int64) updater.Options {
	return updater.Options{
		MaxFileSize: maxFileSize, Writes: m.writes, Holds: m.holds, Names: m.names(),
		Mentions: func(file string) bool { return len(m.targets(file)) > 0 },
	}
}

// names returns the repositories that components without a wildcard follow, and their mirrors.
func (m *matcher) names() (all []image.Repository) {
	for _, component := range m.config.Components {
		repository, exact := component.Pattern.Repository()
		if !exact {
			continue
		}
		all = append(all, repository)
		for _, environment := range m.environments {
			if written, mirrored := environment.MirrorOf(repository); mirrored {
				all = append(all, written)
			}
		}
	}
	return all
}

// groupMentions adds the mentions of an inventory to their targets. Where the config refuses them, those that are
// not in prose are refusals.
func (m *matcher) groupMentions(inventory *updater.Inventory, targets currents) {
	found := map[promotion.Target]edit.Mentions{}
	for _, of := range inventory.Mentions {
		more := map[promotion.Target]bool{}
		for _, mention := range of.Listed {
			for _, target := range m.mentionedIn(mention) {
				if m.isTransformed(mention, target, targets) {
					continue
				}
				all := found[target]
				all.Listed = append(all.Listed, mention)
				found[target], more[target] = all, true
			}
		}
		for target := range more {
			all := found[target]
			all.More += of.More
			found[target] = all
		}
	}
	for target, all := range found {
		current := targets[target]
		if environment, _ := m.config.Environment(target.Environment); environment.RefusesMentions {
			for i, mention := range all.Listed {
				if !mention.Prose {
					all.Listed[i].Refused = true
					current.Refusals = append(current.Refusals, refuseMention(mention))
				}
			}
		}
		current.Mentions = edit.Mentions{}
		current.Mentions.Add(all)
		targets[target] = current
	}
}

// refuseMention returns the refusal of a mention.
func refuseMention(m edit.Mention) edit.Refusal {
	return edit.Refusal{
		File: m.File, Line: m.Line, Component: m.Component,
		Reason: "mentions: it names " + m.Text + " in a form that promoter does not edit; use a form that it edits, write, or a marker, " +
			"or end the line with promoter: ignore in a comment",
	}
}

// mentionedIn returns the targets that a mention belongs to, as targetsOf does.
func (m *matcher) mentionedIn(mention edit.Mention) []promotion.Target {
	return m.targetsOf(edit.Reference{
		Component: mention.Component, Position: mention.Position, Repository: mention.Repository, Mirror: mention.Mirror,
	})
}

// transforms are the shapes that set the version of a name in other files of the target.
var transforms = []edit.Shape{"kustomize-images"}

// isTransformed reports whether a name without a version gets it from another file of the target.
func (m *matcher) isTransformed(mention edit.Mention, target promotion.Target, targets currents) bool {
	return mention.Bare && slices.ContainsFunc(targets[target].References, func(r edit.Reference) bool {
		return r.Component == mention.Component && slices.Contains(transforms, r.Shape)
	})
}
