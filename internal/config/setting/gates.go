package setting

import "promoter/internal/strictyaml"

// Gates must be satisfied before a promotion lands.
type Gates struct {
	Windows   []string
	Checks    []string // patterns
	Approvals *Approvals
	Hold      *Hold
	// RollbackInWindows is set if automatic rollbacks wait for the windows too. Only the server file can require it.
	RollbackInWindows bool
}

// rawGates is the set of gates that must pass before a promotion lands.
type rawGates struct {
	strictyaml.Origin
	// Names of windows that must be open. See docs/configuration.md#windows.
	Windows strictyaml.List `yaml:"windows"`
	// Globs of commit statuses that must pass on the pull request. Not with `land: push`.
	Checks strictyaml.List `yaml:"checks"`
	// Approvals that the pull request needs. Not with `land: push`.
	Approvals *rawApprovals `yaml:"approvals"`
	// A key in the files with which users stop promotions. See docs/guides/freeze.md#let-a-file-decide.
	Hold *rawHold `yaml:"hold"`
}

// gate is one key of gates.
type gate struct {
	key string
	// check validates the gate as one layer sets it, merged as an application has it.
	check  func(f *File, raw *rawGates)
	merged func(report *strictyaml.Report, raw *rawGates)
	// needsPullRequest returns the origin of the setting that land: push contradicts,
	// and withoutPullRequest is what to write instead.
	needsPullRequest   func(raw *rawGates) strictyaml.Origin
	withoutPullRequest string
	// load fills the settings.
	load func(raw *rawGates, out *Gates)
}

// gates are all gates. To add one, add a field to both structs above, and a row here
// with its own file.
var gates = []gate{windowsGate, checksGate, approvalsGate, holdGate}

func checkGates(f *File, raw *rawGates) {
	if raw != nil && !raw.Invalid {
		for _, gate := range gates {
			gate.check(f, raw)
		}
	}
}

func checkGatesMerged(report *strictyaml.Report, s *environment) {
	if s.raw.Gates != nil {
		for _, gate := range gates {
			gate.merged(report, s.raw.Gates)
		}
	}
}

func (raw *rawGates) gates() Gates {
	var out Gates
	if raw != nil {
		for _, gate := range gates {
			gate.load(raw, &out)
		}
	}
	return out
}

// valid is for gates without a rule about merged settings.
func valid(*strictyaml.Report, *rawGates) {}

// The file of this gate cannot be called gate_windows.go, which would be built for one
// operating system only.
var windowsGate = gate{
	key: "windows",
	check: func(f *File, raw *rawGates) {
		for _, window := range raw.Windows.Items {
			f.Report.Known("window", window, f.WindowNames)
		}
	},
	merged:           valid,
	needsPullRequest: func(*rawGates) (none strictyaml.Origin) { return none },
	load:             func(raw *rawGates, out *Gates) { out.Windows = raw.Windows.Strings() },
}
