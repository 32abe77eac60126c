package gitlab

import (
	"context"
	"regexp"
	"strings"
	"time"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/identity"
)

// accountKept is how long the name of our account is cached: the service is
// long-running, and accounts can be renamed.
const accountKept = time.Hour

// account fetches the account of the credential.
func (f *Forge) account(ctx context.Context) (account, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.self.id != 0 && f.now().Before(f.told.Add(accountKept)) {
		return f.self, nil
	}
	user, _, err := f.api.Users.CurrentUser(in(ctx))
	if err != nil {
		return account{}, err
	}
	person := f.person(user.Username)
	person.ID, person.Bot = identity.NumericID(user.ID), person.Bot || user.Bot
	f.self, f.told = account{id: user.ID, person: person}, f.now()
	return f.self, nil
}

// botName matches the names of accounts of project and group access tokens and, by
// default, of service accounts.
// https://docs.gitlab.com/user/project/settings/project_access_tokens/#bot-users-for-projects
var botName = regexp.MustCompile(`^((project|group)_\d+_bot|service_account_)`)

// person converts a login. GitLab keeps no login of a deleted account.
func (f *Forge) person(login string) identity.User {
	if login == "" {
		return identity.User{}
	}
	return identity.User{Host: f.host, Login: login, Bot: botName.MatchString(login)}
}

func (f *Forge) personOf(user *gogitlab.BasicUser) identity.User {
	if user == nil {
		return identity.User{}
	}
	person := f.person(user.Username)
	if person.Login != "" {
		person.ID = identity.NumericID(user.ID)
	}
	return person
}

// userID returns the ID of an account, zero if it does not exist or is on another
// forge. It is queried once per reconciliation.
func (r *repository) userID(ctx context.Context, person identity.User) (int, error) {
	if !isName(person.Login) || !strings.EqualFold(person.Host, r.forge.host) {
		return 0, nil
	}
	login := strings.ToLower(person.Login)
	r.mu.Lock()
	id, known := r.users[login]
	r.mu.Unlock()
	if known {
		return id, nil
	}
	found, _, err := r.forge.api.Users.ListUsers(&gogitlab.ListUsersOptions{Username: &person.Login}, in(ctx))
	if err != nil {
		return 0, err
	}
	for _, user := range found {
		if strings.EqualFold(user.Username, person.Login) {
			id = user.ID
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.users[login] = id
	return id, nil
}

// isBot queries whether an account is a bot, which the names of some service accounts
// do not show. It is queried once per forge: gitlab.com allows 300 such requests in
// ten minutes.
// https://docs.gitlab.com/administration/settings/rate_limit_on_users_api/
func (f *Forge) isBot(ctx context.Context, person identity.User, id int) (bool, error) {
	if person.Bot {
		return true, nil
	}
	f.mu.Lock()
	bot, known := f.bots[id]
	f.mu.Unlock()
	if known {
		return bot, nil
	}
	user, _, err := f.api.Users.GetUser(id, gogitlab.GetUsersOptions{}, in(ctx))
	if wasNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bots[id] = user.Bot
	return user.Bot, nil
}
