package giteatest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Scopes returns the scopes that promoter's token needs.
func Scopes() []string {
	return []string{"read:user", "write:repository", "write:issue", "read:organization"}
}

type token struct {
	owner  *user
	scopes []string
}

// anonymous returns the token of a request without a credential.
func (s *Server) anonymous() *token { return &token{owner: &user{}} }

func (k *token) anonymous() bool { return k.owner.login == "" }

// has reports whether the token has a scope of a category; write includes read.
func (k *token) has(write bool, category string) bool {
	return slices.Contains(k.scopes, "all") || slices.Contains(k.scopes, "write:"+category) || !write && slices.Contains(k.scopes, "read:"+category)
}

// Token returns a new token of an account with these scopes.
func (s *Server) Token(login string, scopes ...string) string {
	var text string
	s.act(func() {
		text = fmt.Sprintf("%040x", 0xbeef0000+s.next())
		s.tokens[text] = &token{owner: s.user(login), scopes: scopes}
		if s.first == "" {
			s.first = text
		}
	})
	return text
}

// SetScopes changes the scopes of a token.
func (s *Server) SetScopes(text string, scopes ...string) {
	s.act(func() { s.tokens[text].scopes = scopes })
}

// Revoke makes a token invalid.
func (s *Server) Revoke(text string) { s.act(func() { delete(s.tokens, text) }) }

// lacks returns the refusal of a token without a scope, nil if it has the scope.
func lacks(c *call, category string) *reply {
	write := c.r.Method != http.MethodGet
	if c.token.anonymous() || c.token.has(write, category) {
		return nil
	}
	level := "read:"
	if write {
		level = "write:"
	}
	return refuse(http.StatusForbidden, "token does not have at least one of required scope(s): ["+strings.TrimSpace(level+category)+"]")
}
