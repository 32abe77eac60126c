package config

// unused warns of windows that no gate asks for: their author believes that
// something is held back.
func (l *loader) unused() {
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
