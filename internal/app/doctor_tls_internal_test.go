package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/connect/connecttest"
)

func TestDoctor_withoutTLS(t *testing.T) {
	t.Parallel()
	for listen, warns := range map[string]bool{"127.0.0.1:8080": false, "localhost:8080": false, "[::1]:8080": false, ":8080": true, "0.0.0.0:80": true, "10.0.0.1:80": true} {
		d := &doctor{file: &serverconfig.Config{Listen: listen}}
		d.tls(t.Context())
		if (len(d.findings) == 1 && d.findings[0].Verdict == VerdictWarn) != warns {
			t.Errorf("%s: %+v", listen, d.findings)
		}
	}
}

func TestDoctor_certificateExpires(t *testing.T) {
	t.Parallel()
	folder, until := t.TempDir(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	connecttest.WriteCertificate(t, folder, "1", until)
	file, problems := serverconfig.Load("server.yaml", fmt.Appendf(nil,
		"version: 1\nlisten: \":8443\"\ntls:\n  certificate: \"file:%s/tls.crt\"\n  key: \"file:%[1]s/tls.key\"\n", folder), noEnv)
	if file == nil {
		t.Fatal(problems)
	}
	for _, test := range []struct {
		at      time.Time
		says    string
		verdict Verdict
	}{
		{until.AddDate(0, 0, -20), "expires in 20 days", VerdictOK},
		{until.AddDate(0, 0, -13), "expires in 13 days", VerdictWarn},
		{until.Add(-time.Hour), "expires within a day", VerdictWarn},
		{until.AddDate(0, 0, 2), "has expired", VerdictWarn},
	} {
		d := &doctor{file: file, server: &connect.Server{File: file, Now: func() time.Time { return test.at }}}
		d.tls(t.Context())
		if f := d.findings[0]; f.Verdict != test.verdict || !strings.Contains(f.Says, test.says) {
			t.Errorf("doctor at %v: %+v", test.at, f)
		}
	}
}
