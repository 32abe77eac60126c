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

// writer says whether a person may push, asked once per pass, and whether that was
// told.
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

// permitted asks for a permission. An account that is gone has none. Gitea tells
// those of others to administrators of the repository alone.
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

// MayWrite asks Gitea each time. To an account that is no administrator it tells who
// may be assigned: who is not among them may not push, and of the others it is not
// known.
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
