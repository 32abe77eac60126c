package adminapi

import (
	"strings"
	"testing"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/queue"
	"promoter/internal/store"
)

// Each receiver that a config names shows whether it reported, and what to set up.
func TestReceiversOf(t *testing.T) {
	t.Parallel()
	file := &serverconfig.Config{URL: "https://promoter.example.com", Receivers: []serverconfig.Receiver{
		{Name: "argo", Kind: "argocd"},
		{Name: "polled", Kind: "argocd", Poll: &serverconfig.Poll{}},
		{Name: "flux", Kind: "flux"},
		{Name: "smoke", Kind: "evidence"},
		{Name: "unused", Kind: "evidence"},
		{Name: "hub", Kind: "dockerhub"},
		{Name: "quay", Kind: "quay"},
	}}
	repositories := []store.Repository{{Key: "k1", Host: "h", Name: "acme/one"}, {Key: "k2", Host: "h", Name: "acme/two"}}
	follows := map[string][]store.Health{}
	for _, name := range []string{"argo", "polled", "flux", "smoke", "hub", "gone"} {
		follows["k1"] = append(follows["k1"], store.Health{Receiver: name, Subject: "a"}, store.Health{Receiver: name, Subject: "b"})
	}
	follows["k2"] = []store.Health{{Receiver: "flux", Subject: "a"}}
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	polls := []queue.Entry{{Key: "polled", LastError: "refused"}}
	var got []string
	for _, one := range receiversOf(file, repositories, follows, map[string]time.Time{"flux": at}, polls) {
		line := []string{one.Receiver, strings.Join(one.Repositories, " "), one.Failing, one.SetUp}
		if !one.ReportedAt.IsZero() {
			line = append(line, one.ReportedAt.Format(time.RFC3339))
		}
		got = append(got, strings.Join(line, "|"))
	}
	want := []string{
		"argo|h/acme/one||let the notifications of Argo CD post to https://promoter.example.com/webhooks/argo (docs/guides/health-argocd.md)",
		"polled|h/acme/one|refused|",
		"flux|h/acme/one h/acme/two|||2026-11-20T10:00:00Z",
		"smoke|h/acme/one||post reports to https://promoter.example.com/api/v1/evidence with its secret (docs/webhooks.md)",
		"unused|||no config names it: write from: unused into health of an environment",
		"hub|h/acme/one||health.from names it, and a receiver of the kind dockerhub reports no health",
		"gone|h/acme/one||health.from names it, and the server file does not have it: add it to receivers",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
