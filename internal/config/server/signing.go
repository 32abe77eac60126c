package serverconfig

import "promoter/internal/strictyaml"

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
}

// rawSigning is how promoter signs its commits.
type rawSigning struct {
	strictyaml.Origin
	// Private key, GPG or SSH, by reference.
	Key strictyaml.Located[string] `yaml:"key"`
	// Passphrase of the key, by reference. Default: the key has none.
	Passphrase strictyaml.Located[string] `yaml:"passphrase"`
}

// Sensitive implements strictyaml.Sensitive.
func (*rawSigning) Sensitive() {}

func loadSigning(in *input, env func(string) (string, bool)) Signing {
	if variable := SigningFromEnvironment(env); !variable.Key.IsZero() {
		return variable
	}
	raw := in.raw.Signing
	if raw == nil || raw.Invalid {
		return Signing{}
	}
	if !raw.Key.IsSet() {
		in.report.Errorf(raw.Position, "name the private key, as in key: env:"+SigningKeyVariable+", or remove signing", "signing has no key")
	}
	return Signing{Key: in.reference(raw.Key, "signing.key"), Passphrase: in.reference(raw.Passphrase, "signing.passphrase")}
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
