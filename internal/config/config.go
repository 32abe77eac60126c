// Package config loads .promoter.yaml, the file in each GitOps repository that
// describes its components, environments, and promotions.
//
// Loading is strict and reports all problems at once: unknown keys, wrong types,
// references to names that do not exist, and settings that contradict each other. Each
// Problem has a position in the file and a hint how to fix it. A Config that was loaded
// without errors needs no further validation: every pattern compiles, every name
// exists, and every combination of overrides was validated.
//
// Every family of keys has one file with its raw form, its decoding, and its validation.
// The settings that applications may override are in package setting.
//
// The package does no I/O.
package config

//go:generate go test . -run ^TestSchema_isCurrent$ -update

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"promoter/internal/config/field"
	"promoter/internal/config/setting"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/strictyaml"
)

// FileName is the name of the config file, in the root of a GitOps repository.
const FileName = ".promoter.yaml"

// MaxSize is the largest file that is read, in bytes.
const MaxSize = strictyaml.MaxSize

// The vocabulary of what loading reports.
//
//nolint:revive // one comment for the aliases
type (
	Position = strictyaml.Position
	Problem  = strictyaml.Problem
	Problems = strictyaml.Problems
	Severity = strictyaml.Severity
)

// The severities.
const (
	SeverityError   = strictyaml.SeverityError
	SeverityWarning = strictyaml.SeverityWarning
)

// Error reports that a config file cannot be used. It is of kind fault.Invalid.
type Error struct{ Problems Problems }

// Error returns one line per problem.
func (e *Error) Error() string { return e.Problems.String() }

// Unwrap makes the error one of kind fault.Invalid.
func (e *Error) Unwrap() error { return fault.Wrap(fault.Invalid, e.Problems.Err()) }

// Config is a loaded .promoter.yaml. It does not change after Load, and it is safe for
// concurrent use. Lists are in the order of the file.
type Config struct {
	File         string
	Components   []Component
	Applications []Application
	Environments []Environment
	Windows      []Window

	text     []byte // of the file
	warnings Problems
	source   [sha256.Size]byte
	index    componentIndex
	policies map[string]*image.Policy // by component
	layers   []layer
	settings []setting.RawOverride // of each environment, without layers
	order    []string              // environments, parents first

	ancestors map[string]environmentSet // of each environment
}

// rawConfig is the file .promoter.yaml of a GitOps repository.
//
// The raw types mirror the file key by key. The JSON Schema is generated from them, and
// their comments are its descriptions. Tags: yaml is the key; values lists the strings
// that a key may have, the default first; required marks keys that must be present.
type rawConfig struct {
	strictyaml.Origin
	// Version of the file format.
	Version strictyaml.Located[int] `yaml:"version" required:"true"`
	// Artifacts to promote, by name: 1 to 2,000. See docs/configuration.md#components.
	Components strictyaml.Map[*rawComponent] `yaml:"components"`
	// Environments that versions are promoted to, by name: 1 to 500. See docs/configuration.md#environments.
	Environments strictyaml.Map[*rawEnvironment] `yaml:"environments"`
	// Settings for each application: a name, or a glob in which `*` matches anything. At most 2,000. See
	// docs/configuration.md#applications.
	Applications strictyaml.Map[*rawApplication] `yaml:"applications"`
	// Time windows that gates refer to, by name: at most 500. Each has `schedule` and `duration`, or one or both of
	// `from` and `until`. See docs/configuration.md#windows.
	Windows strictyaml.Map[*rawWindow] `yaml:"windows"`

	// Signatures that the images of all components must have. See docs/guides/signatures.md. Default: none.
	Verify *rawVerify `yaml:"verify"`

	// Messages about promotions. The list of an application or an environment replaces it. See docs/guides/notifications.md. Default: none.
	Notify strictyaml.Sections[*setting.RawNotification] `yaml:"notify"`

	// What happens where a text names a followed image in a form that promoter does not edit. `list`: it is shown. `refuse`:
	// nothing is written for its component, except for comments and documents. See docs/writing.md#mentions.
	Mentions strictyaml.Located[string] `yaml:"mentions" values:"list refuse"`

	Extensions strictyaml.Extensions `yaml:"x-*"`
}

// refuseMentions is the value of mentions with which they are refusals.
const refuseMentions = "refuse"

// misplaced are hints for keys that are often written in the wrong section.
var misplaced = map[string]string{
	"healthy":     "healthy belongs to after: {PARENT: {healthy: true}}",
	"argocd":      "argocd belongs to health",
	"flux":        "flux belongs to health",
	"timeout":     "timeout belongs to health",
	"onFailure":   "onFailure belongs to health",
	"soak":        "soak belongs to after: {PARENT: {soak: 24h}}",
	"tagged":      "tagged belongs to after: {PARENT: {tagged: NAME}}",
	"approvals":   "approvals belongs to gates",
	"hold":        "hold belongs to gates",
	"reviewers":   "reviewers belongs to pullRequest",
	"assignees":   "assignees belongs to pullRequest",
	"draft":       "draft belongs to pullRequest",
	"group":       "group belongs to pullRequest",
	"limit":       "limit belongs to pullRequest",
	"semver":      "semver belongs to select",
	"newest":      "newest belongs to select",
	"minAge":      "minAge belongs to select",
	"platforms":   "platforms belongs to select",
	"registries":  "registries belong to the server file",
	"credentials": "credentials belong to the server file",
	"branch":      "branch is set once per environment, in environments",
	"paths":       "paths are set once per environment, in environments",
	"exclude":     "exclude is set per environment, and under select for tags",
}

// Load reads a .promoter.yaml; file is the name that problems refer to. The Config is
// nil when a problem is an error.
func Load(file string, data []byte) (*Config, Problems) {
	in := &input{report: &strictyaml.Report{}, comparisons: maxComparisons}
	if strictyaml.Decode(file, data, &in.raw, misplaced, in.report) {
		field.CheckVersion(in.report, in.raw.Version, in.raw.Origin)
		if in.namesAreValid() {
			if c := build(file, in); !in.report.Failed() {
				c.text = data
				c.source = sha256.Sum256(data)
				c.warnings = in.report.Problems()
				return c, in.report.Problems()
			}
		}
	}
	return nil, in.report.Problems()
}

// build turns the raw file into a Config. Later steps use what earlier ones made, and
// every step continues after a problem.
func build(file string, in *input) *Config {
	c := &Config{File: file}
	c.Windows = loadWindows(in)
	c.Environments = loadEnvironments(in)
	c.Components, c.policies = loadComponents(in)
	loadVerify(in, c)
	c.index = indexComponents(c.Components)
	for _, environment := range c.Environments {
		c.index.byComponent[environment.Name] = environment.ByComponent
	}
	c.Applications, c.layers = loadApplications(in, c)
	c.index.memberOf = indexMembers(in, c)
	c.index.restricted = slices.ContainsFunc(c.layers, func(l layer) bool { return l.raw.Components.IsSet() })
	settings := in.settingsFile(c.layers)
	c.order = settings.Order()
	settings.Check()
	c.settings = in.environmentSettings()
	for i, raw := range c.settings {
		c.Environments[i].Settings = raw.Settings()
	}
	if !in.report.Failed() { // without cycles and unknown names
		c.ancestors = ancestorsOf(c)
	}
	loadWrites(in, c)
	checkSameImage(in, c)
	checkMirrors(in, c)
	checkOverlaps(in, c)
	warnUnused(in, settings, c)
	return c
}

// input is what the steps of loading read, and the report that they write to.
type input struct {
	report      *strictyaml.Report
	raw         rawConfig
	captures    bool // environments capture {application} from their paths, or are by component
	comparisons int  // how many are left

	components, environments, windows strictyaml.Names
}

// Limits of one file. They bound what is compared pair by pair, and what one page shows.
// maxComparisons counts comparisons of patterns, paths, and settings per application;
// it keeps loading a malicious file under about a second.
const (
	maxComponents   = 2000
	maxApplications = 2000
	maxEnvironments = 500
	maxWindows      = 500
	maxComparisons  = 1_000_000
)

// namesAreValid checks every name that the file defines. It returns false when there
// are too many to continue.
func (in *input) namesAreValid() bool {
	raw := &in.raw
	in.components = strictyaml.NamesOf(raw.Components.Keys())
	in.environments = strictyaml.NamesOf(raw.Environments.Keys())
	in.windows = strictyaml.NamesOf(raw.Windows.Keys())
	field.CheckNames(in.report, "component", raw.Components.Keys())
	field.CheckNames(in.report, "environment", raw.Environments.Keys())
	field.CheckNames(in.report, "window", raw.Windows.Keys())
	few := true
	for _, section := range []struct {
		key      string
		required bool
		strictyaml.Origin
		count, limit int
	}{
		{"components", true, raw.Components.Origin, len(raw.Components.Entries), maxComponents},
		{"environments", true, raw.Environments.Origin, len(raw.Environments.Entries), maxEnvironments},
		{"applications", false, raw.Applications.Origin, len(raw.Applications.Entries), maxApplications},
		{"windows", false, raw.Windows.Origin, len(raw.Windows.Entries), maxWindows},
	} {
		at := strictyaml.FirstSet(section.Origin, raw.Origin)
		in.report.ErrorIf(section.required && section.count == 0 && !section.Invalid, at,
			"see docs/reference/config.md#"+section.key, "there are no %s", section.key)
		if section.count > section.limit {
			in.report.Errorf(section.Position, "use patterns, or split the repository",
				"there are %d %s, more than %d", section.count, section.key, section.limit)
			few = false
		}
	}
	return few
}

// compare counts comparisons. It returns false when the file needs too many.
func (in *input) compare(at Position, count int) bool {
	if in.comparisons >= 0 {
		if in.comparisons -= count; in.comparisons < 0 {
			in.report.Errorf(at, "use fewer paths, patterns, names under only, and application patterns",
				"the file needs more than %d comparisons", maxComparisons)
		}
	}
	return in.comparisons >= 0
}

// warnUnused warns about what has no effect: environments without components, and
// windows that no gate refers to, whose author believes that they hold something back.
func warnUnused(in *input, settings *setting.File, c *Config) {
	used := map[string]bool{}
	settings.Each(func(_ string, raw *setting.RawOverride) {
		if raw.Gates != nil {
			for _, window := range raw.Gates.Windows.Items {
				used[window.Value] = true
			}
		}
	})
	for _, window := range c.Windows {
		if !used[window.Name] {
			in.report.Warnf(window.Position, "refer to it under gates.windows of an environment", "no gate uses the window %s", window.Name)
		}
	}
	for _, environment := range c.Environments {
		if len(c.Components) > 0 && len(componentsIn(c, environment.Name)) == 0 {
			in.report.Warnf(environment.Position, "change only.environments of a component", "no component is used in %s", environment.Name)
		}
	}
}

// Fingerprint identifies the content of the file.
func (c *Config) Fingerprint() string { return hex.EncodeToString(c.source[:]) }

// IsFrom reports whether the config was loaded from a file with this content.
func (c *Config) IsFrom(data []byte) bool { return c.source == sha256.Sum256(data) }

// Warnings returns what has a surprising effect in the file.
func (c *Config) Warnings() Problems { return c.warnings }
