package rest

import (
	"slices"

	"promoter/internal/identity"
)

// Robots are accounts that the server file lists, by their logins, beside what the forge shows.
type Robots struct {
	Bots    []string // accounts that are bots, although the forge does not show it
	Trusted []string // bots that act for users: what they do counts as that of a user
}

// Person returns an account as it counts for what users decide: a trusted bot counts as a user.
func (r Robots) Person(account identity.User) identity.User {
	account.Bot = r.Account(account).Bot && !listed(r.Trusted, account.Login)
	return account
}

// Account returns an account as it is: a trusted bot is a bot, whose approval never counts.
func (r Robots) Account(account identity.User) identity.User {
	account.Bot = account.Bot || listed(r.Bots, account.Login) || listed(r.Trusted, account.Login)
	return account
}

// IsTrusted reports whether a login is that of a bot that acts for users.
func (r Robots) IsTrusted(login string) bool { return listed(r.Trusted, login) }

func listed(logins []string, login string) bool {
	return login != "" && slices.ContainsFunc(logins, func(one string) bool { return identity.SameLogin(one, login) })
}
