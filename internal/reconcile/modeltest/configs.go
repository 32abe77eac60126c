package modeltest

import (
	"math/rand/v2"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// shape is what a story keeps when its config changes.
type shape struct {
	pushOnly  bool
	moving    bool // worker has a moving tag
	ownBranch bool // prod has a branch of its own
	byCheck   bool // the health of staging is a commit status
	verified  bool // the server requires signatures
	mirrored  bool // the files of prod name a mirror
	names     *names
}

// written returns a reference as the file of a target has it.
func (s shape) written(target, reference string) string {
	if s.mirrored && strings.HasPrefix(target, "prod/") {
		return strings.ReplaceAll(reference, followed, mirror)
	}
	return reference
}

// config returns a random config: each key that changes decisions is a choice, see the table choices.
func (s shape) config(random *rand.Rand) string {
	w := configWriter{s, random, random.IntN(2) == 0}
	healthOfStaging := healthOfStaging
	if s.byCheck {
		healthOfStaging = healthByCheck
	}
	devHealth, stagingHealth, prodHealth := w.health(healthOfDev), w.health(healthOfStaging), w.health(healthOfProd)
	text := w.environment("dev", w.one("push", "push", "push", "pr", "automerge"), devHealth, w.newer(), w.gates("windows"))
	text += w.environment("staging", w.one("automerge", "pr", "pr", "push"),
		"after: {"+w.conditions("dev", devHealth)+"}", stagingHealth, w.newer(), w.gates("windows", "checks"))
	parents := w.conditions("staging", stagingHealth)
	if w.IntN(2) == 0 {
		text += w.environment("canary", w.one("push", "push", "automerge", "pr"), "after: {"+w.conditions("dev", devHealth)+"}", w.newer())
		parents = w.one(parents, parents+", "+w.conditions("canary", ""), parents+", "+w.conditions("canary", ""), w.conditions("canary", ""))
	}
	keys := []string{"after: {" + parents + "}", w.gates("windows", "checks", "approvals", "hold")}
	switch propose := w.one("", "", "", "", "propose: manual", "propose: manual", "propose: manual", "propose: never"); propose {
	case "":
		keys = append(keys, prodHealth, w.newer())
	case "propose: manual":
		keys = append(keys, prodHealth, propose)
	default: // which returns to nothing after a failure
		keys = append(keys, propose)
	}
	if s.ownBranch {
		keys = append(keys, "branch: "+release)
	}
	if s.mirrored {
		keys = append(keys, "mirrors: {quay.io/acme: mirror.example.com/acme}")
	}
	text += w.environment("prod", w.one("automerge", "automerge", "automerge", "pr"), keys...)
	head := "version: 1\n"
	if used := windowsIn(text); used != "" {
		head += "windows:\n" + used
	}
	return head + w.components() + w.applications() + "environments:\n" + text
}

// windowsIn returns the windows that gates name. The clock of a story passes their edges.
func windowsIn(text string) (used string) {
	if strings.Contains(text, "most") {
		used += `  most: {kind: allow, schedule: "0 * * * *", duration: 40m}` + "\n"
	}
	if strings.Contains(text, "pause") {
		used += `  pause: {kind: deny, schedule: "50 * * * *", duration: 15m}` + "\n"
	}
	return used
}

// The checks of the stories: on the heads of pull requests, and on landed commits.
const ci, smoke = "ci", "smoke"

// stable is the tag that tagged requires.
const stable = "stable"

// configWriter writes a random config.
type configWriter struct {
	shape
	*rand.Rand
	sparse bool // it has few keys: those decisions are kept longest
}

// one returns a random choice, or most often the first one in a config that is sparse.
func (w configWriter) one(choices ...string) string {
	if w.sparse && w.IntN(4) > 0 {
		return choices[0]
	}
	return oneOf(w.Rand, choices...)
}

func (w configWriter) components() string {
	minAge := func() string { return w.one("", "", "", "", ", minAge: 10m", ", minAge: 2h") }
	selectWorker := `select: {semver: ">=1"` + minAge() + "}"
	if w.moving {
		selectWorker = "select: {tag: released" + minAge() + "}, pin: tag+digest"
	}
	return "components:\n" +
		"  web: {image: " + web + ", select: {" + w.one(`semver: ">=1"`, `semver: ">=1"`, `numeric: '^1\.(?P<version>[0-9]+)\.0$'`) + minAge() + "}}\n" +
		"  worker: {image: " + worker + ", " + selectWorker + "}\n"
}

func (w configWriter) applications() string {
	text := "applications:\n" + `  "*": {` + w.one("", "", "settle: 5m") + "}\n"
	if !w.moving {
		text += "  shop: {" + w.one("", "", "", "sameVersion: true") + "}\n"
	}
	return text + "  cart: {" + w.one("", "", "environments: {"+w.nameOf("staging")+": {after: {"+w.nameOf("dev")+": {soak: 20m}}}}") + "}\n"
}

// health returns the health of an environment; empty: it is not monitored.
func (w configWriter) health(key string) string {
	return w.one("", key+"}", key+", onFailure: rollback}")
}

// newer returns what a newer version does to what is open.
func (w configWriter) newer() string {
	return w.one("", "", "newer: queue", "newer: refresh", "newer: drain")
}

// conditions returns a parent with what must be met there, for which its health may count.
func (w configWriter) conditions(parent, health string) string {
	var keys []string
	if health != "" {
		keys = append(keys, w.one("", "healthy: true"))
	}
	keys = append(keys, w.one("", "", "soak: 1h"))
	if !w.pushOnly {
		keys = append(keys, w.one("", "", "", "checks: ["+smoke+"]"))
	}
	keys = append(keys, w.one("", "", "", "", "tagged: "+stable))
	return w.nameOf(parent) + ": {" + joined(keys) + "}"
}

// gates returns some of the gates. Without pull requests, only those that need none.
func (w configWriter) gates(among ...string) string {
	written := map[string]string{
		"windows": "windows: [" + w.one("most", "pause", "most, pause") + "]", "hold": "hold: {key: promote}",
		"checks": "checks: [" + ci + "]", "approvals": "approvals: {count: 1, from: [ann, bob]}",
	}
	var keys []string
	for _, name := range among {
		if w.one("", "", "set") != "" && (name == "windows" || name == "hold" || !w.pushOnly && name != "") {
			keys = append(keys, written[name])
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return "gates: {" + joined(keys) + "}"
}

// environment returns an environment that lands what it gets in one way, or pushes it.
func (w configWriter) environment(name, land string, keys ...string) string {
	folder := w.names.folder(name)
	paths := `paths: ["` + folder + `/{application}.yaml"]`
	if name == "prod" {
		paths = `paths: ["` + folder + `/{application}.yaml", "` + folder + `/hold/{application}.yaml"]`
	}
	if w.pushOnly {
		land = "push"
	}
	if land != "push" {
		keys = append(keys, w.pullRequest(land))
	}
	if land == "push" {
		keys = slices.DeleteFunc(keys, func(key string) bool { return strings.HasPrefix(key, "gates:") && !w.pushable(key) })
	}
	return w.names.dummyOf(name) + "  " + w.nameOf(name) + ": {" + joined(append([]string{paths, "land: " + land}, keys...)) + "}\n"
}

// pushable reports whether gates need no pull request.
func (w configWriter) pushable(gates string) bool {
	return !strings.Contains(gates, "checks") && !strings.Contains(gates, "approvals")
}

func (w configWriter) pullRequest(land string) string {
	var keys []string
	keys = append(keys, w.one("", "", "group: environment"), w.one("", "", "", "", "", "limit: 1"),
		w.one("", "", "", "waitForChecks: 0", "waitForChecks: 3m"))
	if land == "pr" {
		keys = append(keys, w.one("", "", "", "", "draft: true"))
	}
	if all := joined(keys); all != "" {
		return "pullRequest: {" + all + "}"
	}
	return ""
}

// joined returns the keys that are not empty.
func joined(keys []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return key == "" }), ", ")
}

// parsed returns a config as it is loaded.
func parsed(s *story, text string) *config.Config {
	s.t.Helper()
	if known, found := s.configs[text]; found {
		return known
	}
	loaded, problems := config.Load(repo.ConfigFile, []byte(text))
	if loaded == nil {
		s.t.Fatalf("the config of the story is wrong: %v\n%s", problems, text)
	}
	s.configs[text] = loaded
	return loaded
}

// settingsOf returns the settings of a target in a config; false if that does not have it.
func settingsOf(s *story, text, target string) (config.Environment, bool) {
	s.t.Helper()
	environment, application, _ := strings.Cut(target, "/")
	loaded := parsed(s, text)
	for _, name := range slices.Backward(s.names.of(environment)) { // the text may be older than the name
		if _, known := loaded.Environment(name); known && !s.names.dummies[name] {
			return loaded.Settings(name, application), true
		}
	}
	return config.Environment{}, false
}

// parentsOf returns the parents of a target in a config, each with its conditions. In place of a
// parent without the application are the parents of that one.
func parentsOf(s *story, text, target string) (parents []parent) {
	s.t.Helper()
	settings, _ := settingsOf(s, text, target)
	for _, after := range settings.After {
		in := s.logical(state.Target{Environment: after.Environment, Application: s.targetOf(target).Application})
		if slices.Contains(targets(), in) {
			parents = append(parents, parent{in, after})
			continue
		}
		for _, above := range parentsOf(s, text, in) {
			above.Parent = after
			parents = append(parents, above)
		}
	}
	return parents
}

// parent is a target that another one follows, with what must be met there.
type parent struct {
	target string
	setting.Parent
}
