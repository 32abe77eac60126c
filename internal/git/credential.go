package git

import (
	"encoding/base64"
	"net/url"
	"strings"

	"promoter/internal/secret"
)

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

// strike takes the credential out of an error's text, in the forms in which a
// server may have sent it back.
func (c Credential) strike(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, value := range c.forms() {
		text = strings.ReplaceAll(text, value, secret.Redacted)
	}
	if text == err.Error() {
		return err
	}
	return &struck{text: text, err: err}
}

// forms lists how the credential is sent.
func (c Credential) forms() []string {
	var forms []string
	for _, part := range []secret.String{c.Password, c.Bearer, c.Passphrase} {
		if value := part.Reveal(); value != "" {
			forms = append(forms, value, url.QueryEscape(value))
		}
	}
	if password := c.Password.Reveal(); password != "" {
		for _, user := range []string{c.User, basicUser} {
			forms = append(forms, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
		}
	}
	return forms
}

// struck is an error whose text holds no credential.
type struck struct {
	text string
	err  error
}

// Error returns the safe text.
func (s *struck) Error() string { return s.text }

// Unwrap returns the error as it was, for errors.Is and errors.As.
func (s *struck) Unwrap() error { return s.err }
