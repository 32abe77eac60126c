package serverconfig

import "promoter/internal/strictyaml"

// SealKeyVariable has a key of the seals itself. It replaces seal.keys, also where there
// is no server file.
const SealKeyVariable = "PROMOTER_SEAL_KEY"

// Seal is how promoter recognizes what it wrote to promoter/_state.
type Seal struct {
	Keys      []Reference // the first one writes; all verify
	Protected []string    // patterns of GitOps repositories
}

// rawSeal is how promoter recognizes what it wrote to promoter/_state.
type rawSeal struct {
	strictyaml.Origin `holds:"secrets"`
	// Keys of at least 32 characters, by reference. The first one makes seals, and all verify them. Default: `serve` creates one.
	Keys strictyaml.List `yaml:"keys"`
	// Globs of GitOps repositories, `HOST/OWNER/NAME`, whose forge lets only promoter push `promoter/_state`.
	// Everything on that branch counts there. Default: none.
	Protected strictyaml.List `yaml:"protected"`
}

func loadSeal(in *input) Seal {
	raw := in.raw.Seal
	if raw == nil || raw.Invalid {
		return Seal{}
	}
	var seal Seal
	for _, item := range raw.Keys.Items {
		if reference := in.reference(item, "a key of seal.keys"); !reference.IsZero() {
			seal.Keys = append(seal.Keys, reference)
		}
	}
	in.report.ErrorIf(raw.Keys.IsSet() && len(raw.Keys.Items) == 0, raw.Keys.Position,
		"name a key, as in env:PROMOTER_SEAL_KEY, or remove keys", "seal.keys is empty")
	checkRepositoryPatterns(in.report, raw.Protected, "protected")
	seal.Protected = raw.Protected.Strings()
	return seal
}

// SealFromEnvironment is the seal of a command without a server file.
func SealFromEnvironment(env func(string) (string, bool)) Seal {
	if key, set := env(SealKeyVariable); !set || key == "" {
		return Seal{}
	}
	reference, _ := ParseReference("env:" + SealKeyVariable)
	return Seal{Keys: []Reference{reference}}
}
