package setting

import (
	"cmp"

	"promoter/internal/config/field"
	"promoter/internal/strictyaml"
)

// Hold is a key with whose value files keep promoter from writing them.
type Hold struct {
	strictyaml.Position
	Key          string // path in YAML, in the grammar of the updater
	Value        string // that stops promotions
	AbsentPasses bool   // files without the key stop nothing
}

// rawHold is a key in the files of the environment that stops promotions while it has a value, or is in none of them.
type rawHold struct {
	strictyaml.Origin
	// The key, such as `promote_deployment` or `spec.suspend`, in the grammar of paths of `write`. See docs/writing.md#paths-of-write.
	Key strictyaml.Located[string] `yaml:"key" required:"true"`
	// The value that stops promotions, in quotes. Default: `"false"`.
	Value strictyaml.Located[string] `yaml:"value"`
	// What a promotion does if none of the files has the key: it waits, or it passes. Default: `hold`.
	Absent strictyaml.Located[string] `yaml:"absent" values:"hold pass"`
}

const absentPasses = "pass"

var holdGate = gate{
	key: "hold",
	check: func(f *File, raw *rawGates) {
		h := raw.Hold
		if h == nil || h.Invalid {
			return
		}
		if !h.Key.IsSet() {
			f.Report.Errorf(h.Position, "add key: KEY", "gates.hold has no key")
		} else if h.Key.Valid() {
			if _, err := field.ParseYAMLPath(h.Key.Value); err != nil {
				f.Report.Errorf(h.Key.Position, "write promote_deployment or spec.suspend", "%q is not a YAML path: %v", h.Key.Value, err)
			}
		}
	},
	merged:           valid,
	needsPullRequest: func(*rawGates) (none strictyaml.Origin) { return none },
	load: func(raw *rawGates, out *Gates) {
		if raw.Hold != nil {
			out.Hold = &Hold{
				Position: strictyaml.FirstSet(raw.Hold.Key.Origin, raw.Hold.Origin),
				Key:      raw.Hold.Key.Value, Value: cmp.Or(raw.Hold.Value.Value, "false"),
				AbsentPasses: raw.Hold.Absent.Value == absentPasses,
			}
		}
	},
}
