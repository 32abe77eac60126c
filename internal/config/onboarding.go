package config

// onboarding reads which repositories without a config file may be offered one.
func (l *serverLoader) onboarding() {
	raw := l.raw.Onboarding
	if raw == nil || raw.bad {
		return
	}
	if !raw.Repositories.bad && len(raw.Repositories.Value) == 0 {
		l.failf(raw.Position, "add repositories: [HOST/OWNER/*]", "onboarding names no repositories")
	}
	l.repositoryGlobs(raw.Repositories, "repositories")
	l.server.Onboarding = Onboarding{Repositories: texts(raw.Repositories)}
}
