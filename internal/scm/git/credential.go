package git

import "promoter/internal/secret"

// Credential is what the remote is shown. Over https: Bearer, or User and
// Password. Over ssh: Key, or User and Password. The zero value is nobody.
type Credential struct {
	// User is the name for basic authentication and for ssh. Empty: what the URL
	// of an ssh remote says, else "git"; "x-access-token" for basic authentication,
	// which every forge takes beside a token.
	User string
	// Password is a password, or a token sent as one.
	Password secret.String
	// Bearer is a token sent in the header Authorization as it is.
	Bearer secret.String
	// Key is a private key in PEM, for ssh.
	Key secret.String
	// Passphrase opens Key when that is encrypted.
	Passphrase secret.String
}
