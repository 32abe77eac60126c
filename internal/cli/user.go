package cli

import (
	"context"
	"os/exec"
	"strings"
)

// claimedUser returns the name that a user without a verified account claims: that of Git in
// this checkout or for this user, or of the machine. It proves nothing.
func claimedUser(ctx context.Context, system System) string {
	for _, key := range []string{"user.name", "user.email"} {
		// Without Git, or without the key, the next name is used.
		if name, err := exec.CommandContext(ctx, "git", "config", "--get", key).Output(); err == nil && strings.TrimSpace(string(name)) != "" {
			return strings.TrimSpace(string(name))
		}
	}
	for _, variable := range []string{"USER", "USERNAME"} {
		if name, set := system.Env(variable); set && name != "" {
			return name
		}
	}
	return ""
}
