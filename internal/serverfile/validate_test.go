package serverfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/serverfile"
	"promoter/internal/unused"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	server := filepath.Join(t.TempDir(), "server.yaml")
	if err := os.WriteFile(server, []byte("nonsense: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	problems, err := serverfile.Validate(server, os.LookupEnv, unused.Facts{})
	if err != nil || len(problems.Errors()) == 0 || problems[0].File != server {
		t.Errorf("%v, %v", problems, err)
	}
	_, err = serverfile.Validate(server+"-gone", os.LookupEnv, unused.Facts{})
	if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "read the server file: ") {
		t.Errorf("error: %v", err)
	}
}
