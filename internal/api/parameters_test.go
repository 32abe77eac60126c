package api_test

import (
	"context"
	"net/http"
	"testing"

	"promoter/internal/api"
)

// named keeps which names were requested.
type named struct {
	several
	names *[]string
}

func (d named) In(_ context.Context, query api.SnapshotQuery) ([]api.EnvironmentSnapshot, error) {
	*d.names = append(*d.names, query.Environment)
	return nil, nil
}

func (d named) Run(ctx context.Context, name string, query api.SnapshotQuery) (api.Run, error) {
	*d.names = append(*d.names, name)
	return several{}.Run(ctx, name, query)
}

// A name in a path may contain any character.
func TestPathParameter_isDecodedOnce(t *testing.T) {
	t.Parallel()
	var names []string
	options := withAPI(several{})
	options.Snapshots = named{names: &names}
	w := newWorld(t, options)
	for path, want := range map[string]string{
		"/api/v1/runs/team%2Fweb":           "team/web",
		"/api/v1/runs/team%20web":           "team web",
		"/api/v1/runs/100%2525":             "100%25",
		"/api/v1/snapshots/eu%2Fprod":       "eu/prod",
		"/api/v1/snapshots/eu%2Fprod%2525x": "eu/prod%25x",
	} {
		names = nil
		answer := w.ask(t, "GET", path+"?repository=acme/shop", "Bearer "+apiToken, "")
		if answer.Code != http.StatusOK || len(names) != 1 || names[0] != want {
			t.Errorf("%s: %d, %q, want %q", path, answer.Code, names, want)
		}
	}
}
