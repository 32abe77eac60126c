package chartcheck

import (
	"strings"
	"testing"

	serverconfig "promoter/internal/config/server"
)

// With a certificate, promoter reads it from its mount path, and the probes use
// TLS.
func TestTLS(t *testing.T) {
	t.Parallel()
	out := mustRender(t, cases(t)["serve-tls"])
	for _, one := range objects(t, out.text) {
		text, found := one.Data["promoter-server.yaml"]
		if !found {
			continue
		}
		server, problems := serverconfig.Load("promoter-server.yaml", []byte(text), func(name string) (string, bool) { return "x", name == "GITHUB_TOKEN" })
		if server == nil {
			t.Fatal(problems)
		}
		if server.TLS.Certificate.File() != "/run/tls/tls.crt" || server.TLS.Key.File() != "/run/tls/tls.key" {
			t.Errorf("the file names %s and %s", server.TLS.Certificate, server.TLS.Key)
		}
	}
	for _, want := range []string{
		"{name: tls, mountPath: /run/tls, readOnly: true}", "secret: {secretName: promoter-tls, defaultMode: 0440}",
		"scheme: https", `tlsConfig: {"serverName":"promoter.example.com"}`,
	} {
		if !strings.Contains(out.text, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if n := strings.Count(out.text, "scheme: HTTPS}"); n != 3 {
		t.Errorf("%d probes speak TLS, want 3", n)
	}
	if !strings.Contains(out.notes, "https://promoter.gitops:443/webhooks/") {
		t.Errorf("the notes say\n%s", out.notes)
	}
}
