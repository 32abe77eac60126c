package gitea

import (
	"context"
	"net/http"
	"slices"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm/rest"
)

// writer reports whether a user may push, cached per reconciliation, and whether that
// is known.
func (s signals) writer(ctx context.Context, person identity.User) (may, told bool, err error) {
	login := strings.ToLower(person.Login)
	s.mu.Lock()
	may, known := s.writers[login]
	s.mu.Unlock()
	if known {
		return may, true, nil
	}
	may, told, err = s.permitted(ctx, person)
	if err != nil || !told {
		return false, told, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writers[login] = may
	return may, true, nil
}

// permitted fetches a permission. A deleted account has none. Gitea returns the
// permissions of other users only to administrators of the repository.
func (s signals) permitted(ctx context.Context, person identity.User) (may, told bool, err error) {
	if person.Bot || !isName(person.Login) || !strings.EqualFold(person.Host, s.forge.host) {
		return false, true, nil
	}
	level, resp, err := s.forge.api(ctx).CollaboratorPermission(s.owner, s.name, person.Login)
	switch err = answered(resp, err); {
	case statusOf(err) == http.StatusNotFound:
		return false, true, nil
	case statusOf(err) == http.StatusForbidden && !strings.Contains(err.Error(), "scope"):
		return false, false, nil
	case err != nil:
		return false, false, err
	}
	switch level.Permission {
	case sdk.AccessModeOwner, sdk.AccessModeAdmin, sdk.AccessModeWrite:
		return true, true, nil
	}
	return false, true, nil
}

// MayWrite queries Gitea on each call. To a non-administrator, Gitea returns the
// users who may be assigned: a user who is not among them may not push; for the
// others it is unknown.
func (s signals) MayWrite(ctx context.Context, person identity.User) (bool, error) {
	noun := s.noun("permission of %s", rest.OneLine(person.Login))
	may, told, err := s.permitted(ctx, person)
	if err != nil || told {
		return may, explain(noun, err)
	}
	users, resp, err := s.forge.api(ctx).GetAssignees(s.owner, s.name)
	if err != nil {
		return false, explain(noun, answered(resp, err))
	}
	if !slices.ContainsFunc(users, func(u *sdk.User) bool { return s.forge.person(u).Same(person) }) {
		return false, nil
	}
	return false, fault.New(fault.Unauthorized, "%s: Gitea tells it to administrators of the repository only: make %s one", noun, s.info.Self.Login)
}
