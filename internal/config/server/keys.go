package serverconfig

import (
	"slices"

	"promoter/internal/strictyaml"
)

// The variables that have the key for signatures itself, and its passphrase. They replace
// signing.key and signing.passphrase, also where there is no server file.
const (
	SigningKeyVariable        = "PROMOTER_SIGNING_KEY"
	SigningPassphraseVariable = "PROMOTER_SIGNING_PASSPHRASE" //nolint:gosec // a name
)

// Signing is how commits are signed. Its zero value is not at all.
type Signing struct {
	Key        Reference
	Passphrase Reference // zero: the key has none
	GitHubApp  bool      // GitHub signs the commits of a GitHub App, which it makes
}

// rawSigning is how promoter signs its commits.
type rawSigning struct {
	strictyaml.Origin `holds:"secrets"`
	// Private key, GPG or SSH, by reference.
	Key strictyaml.Located[string] `yaml:"key"`
	// Passphrase of the key, by reference. Default: the key has none.
	Passphrase strictyaml.Located[string] `yaml:"passphrase"`
	// Let GitHub make and sign the commits in repositories of a GitHub App. Default: `false`.
	GitHubApp strictyaml.Located[bool] `yaml:"githubApp"`
}

func loadSigning(in *input, forges []Forge, env func(string) (string, bool)) Signing {
	variable, raw := SigningFromEnvironment(env), in.raw.Signing
	if raw == nil || raw.Invalid {
		return variable
	}
	hasApp := func(forge Forge) bool { return forge.App != nil }
	switch {
	case raw.GitHubApp.Value && !slices.ContainsFunc(forges, hasApp):
		in.report.Errorf(raw.GitHubApp.Position, "set key, or add an app to a forge of kind github",
			"signing.githubApp is set, and no forge has an App")
	case !raw.Key.IsSet() && variable.Key.IsZero() && (raw.Passphrase.IsSet() || !raw.GitHubApp.Value):
		in.report.Errorf(raw.Position, "name the private key, as in key: env:"+SigningKeyVariable+", or remove signing",
			"signing has no key")
	}
	signing := Signing{Key: in.reference(raw.Key, "signing.key"), Passphrase: in.reference(raw.Passphrase, "signing.passphrase")}
	if !variable.Key.IsZero() {
		signing = variable
	}
	signing.GitHubApp = raw.GitHubApp.Value
	return signing
}

// SigningFromEnvironment is how the environment asks to sign.
func SigningFromEnvironment(env func(string) (string, bool)) Signing {
	reference := func(name string) (found Reference) {
		if value, set := env(name); set && value != "" {
			found, _ = ParseReference("env:" + name)
		}
		return found
	}
	return Signing{Key: reference(SigningKeyVariable), Passphrase: reference(SigningPassphraseVariable)}
}

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
