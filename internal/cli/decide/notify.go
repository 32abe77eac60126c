package decide

import (
	"context"
	"errors"
	"fmt"
	"time"

	"promoter/internal/cli/console"
	"promoter/internal/identity"
	"promoter/internal/serverfile"
	"promoter/internal/service/adminapi"
)

// When a decision takes effect.
const (
	reconcilesNow   = "the service reconciles now"
	reconcilesLater = "takes effect on the next reconciliation"
)

// notifyTimeout is how long a command waits for the service: its decision is recorded already.
const notifyTimeout = 5 * time.Second

// notifyService lets the service that the server file names reconcile a repository at once. It is called after a
// decision was recorded, so that a failure only delays the decision until the next reconciliation.
func notifyService(server *serverfile.Server, system console.System, key identity.RepositoryKey) notifier {
	return func(ctx context.Context) string {
		client, err := adminapi.NewClientOf(server, system.Env)
		if client == nil && err == nil {
			return reconcilesLater
		}
		if err == nil {
			ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
			defer cancel()
			_, err = client.Reconcile(ctx, string(key))
		}
		switch {
		case err == nil:
			return reconcilesNow
		case errors.Is(err, adminapi.ErrNoService): // none runs, or not on this machine
			return reconcilesLater
		}
		return fmt.Sprintf("%s: the service does not reconcile now: %v", reconcilesLater, err)
	}
}
