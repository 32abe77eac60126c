package config

import "promoter/internal/image"

// afterLayer checks what one layer says about parents, before it is merged.
func (l *loader) afterLayer(after rawAfter) {
	seen := map[string]bool{}
	for _, e := range after.Parents.Entries {
		if seen[e.Key.Value] {
			l.failf(e.Key.Position, "keep one of them", "the parent %s stands twice", e.Key.Value)
		}
		seen[e.Key.Value] = true
		if !l.known("environment", e.Key, l.environmentNames) || e.Value.bad {
			continue
		}
		l.checkNames(e.Value.Checks, "after."+e.Key.Value+".checks")
		tagged := e.Value.Tagged
		switch {
		case !tagged.ok():
		case tagged.Value == "":
			l.failf(tagged.Position, "name a tag, or remove tagged", "after.%s.tagged is empty", e.Key.Value)
		case !image.ValidTag(tagged.Value):
			l.failf(tagged.Position, "write letters, digits, dots, dashes and underscores, at most 128", "%q cannot be a tag", tagged.Value)
		}
	}
}

// checkNames checks patterns of commit statuses.
func (l *loader) checkNames(checks list, key string) {
	for _, check := range checks.Value {
		switch {
		case !check.ok():
		case check.Value == "":
			l.failf(check.Position, "name a status, or write * for all", "%s has an empty name", key)
		case check.Value == ownStatus:
			l.failf(check.Position, "name another status", "promoter's own status never counts for %s", key)
		}
	}
}

// afterMerged checks conditions against the parent they look at.
func (l *loader) afterMerged(s *settings, w *world) {
	for _, e := range s.raw.After.Parents.Entries {
		parent, found := w.find(e.Key.Value)
		if !found || e.Value.bad {
			continue
		}
		if e.Value.Healthy.Value && parent.raw.Health == nil {
			l.failf(e.Value.Healthy.Position, "add health to "+parent.name+", or remove healthy",
				"%s asks that %s is healthy, but %s has no health and so is never known to be", s.name, parent.name, parent.name)
		}
		l.starves(s.name, *e.Value, parent)
	}
}
