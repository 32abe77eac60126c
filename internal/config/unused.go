package config

// unused warns of what is written down and has no effect.
func (l *loader) unused() {
	l.unusedWindows()
	for i, environment := range l.config.Environments {
		if len(l.config.Components) > 0 && len(l.followedIn(i)) == 0 {
			l.warnf(environment.Position, "change only.environments of a component", "no component is used in %s", environment.Name)
		}
	}
}

// unusedWindows warns of windows that no gate asks for: their author believes that
// something is held back.
func (l *loader) unusedWindows() {
	used := map[string]bool{}
	l.eachLayer(func(_ string, raw *rawOverride) {
		if raw.Gates == nil {
			return
		}
		for _, window := range raw.Gates.Windows.Value {
			used[window.Value] = true
		}
	})
	for _, window := range l.config.Windows {
		if !used[window.Name] {
			l.warnf(window.Position, "name it under gates.windows of an environment", "no gate asks for the window %s", window.Name)
		}
	}
}
