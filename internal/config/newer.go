package config

// newerMerged checks newer against propose, and whether there is a child that
// drain could wait for.
func (l *loader) newerMerged(s *settings, w *world) {
	newer, propose := s.raw.Newer, s.raw.Propose
	if propose.Value == string(ProposeManual) && newer.ok() && newer.Value != string(NewerQueue) {
		l.failf(newer.Position, "remove newer, or write newer: queue"+also(propose.place, newer.place, "propose"),
			"propose: manual keeps what a person asked for until it is decided, so newer: %s cannot hold", newer.Value)
	}
	if newer.Value == string(NewerDrain) && !w.waitedFor(s.name) {
		l.warnf(newer.Position, "remove newer: drain, or add conditions to a child of "+s.name,
			"newer: drain of %s waits for the conditions of its children, but no child has any", s.name)
	}
}

// starves warns of a soak that newer snapshots can keep from ever passing: the
// parent takes each of them without a person, and none stays long enough.
func (l *loader) starves(child string, soak rawConditions, parent *settings) {
	raw := parent.raw
	automatic := or(raw.Propose, string(ProposeAutomatic)) == string(ProposeAutomatic)
	lands := raw.Land.Value == string(LandAutomerge) || raw.Land.Value == string(LandPush)
	if soak.Soak.Value <= 0 || !automatic || !lands || or(raw.Newer, string(NewerRefresh)) != string(NewerRefresh) {
		return
	}
	l.warnf(soak.Soak.Position, "write newer: drain in "+parent.name,
		"%s takes every newer snapshot at once; when they come more often than every %s, none reaches %s",
		parent.name, formatDuration(soak.Soak.Value), child)
}
