package decide

import (
	"promoter/internal/cli/console"
	"promoter/internal/git"
)

// claimedUser returns the name that a user without a verified account claims: that of Git in
// this checkout or for this user, or of the machine. It proves nothing.
func claimedUser(system console.System) string {
	if name := git.ConfiguredUser(".", system.Env); name != "" {
		return name
	}
	for _, variable := range []string{"USER", "USERNAME"} {
		if name, set := system.Env(variable); set && name != "" {
			return name
		}
	}
	return ""
}
