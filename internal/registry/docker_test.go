package registry

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/image"
)

// TestDocker_configuration sets the environment, so it does not run beside
// others.
func TestDocker_configuration(t *testing.T) {
	f := newAuthFake(t)
	f.push(t, "tenant-b/web", "1.0.0")
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("DOCKER_CONFIG", home)
	config := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, f.host, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	ref := image.Reference{Repository: f.repository(t, "tenant-b/web"), Tag: "1.0.0"}
	if _, err := newClient(t, Options{Docker: true}).For("local").Resolve(t.Context(), ref); err != nil {
		t.Errorf("with the configuration: %v", err)
	}
	f.reset()
	if _, err := newClient(t, Options{}).For("local").Resolve(t.Context(), ref); fault.KindOf(err) != fault.Unauthorized || f.sent() {
		t.Errorf("a server read the configuration of a person: %v", err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(`{"auths":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := newClient(t, Options{Docker: true}).For("local").Resolve(t.Context(), ref)
	if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "docker login "+f.host) {
		t.Errorf("without an entry: %v", err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(`{"auths":`+password), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = newClient(t, Options{Docker: true}).For("local").Resolve(t.Context(), ref)
	if fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), password) {
		t.Errorf("a broken configuration: %v", err)
	}
}
