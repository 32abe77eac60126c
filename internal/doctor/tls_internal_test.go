package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"promoter/internal/certificate/certificatetest"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/serverfile"
)

func TestCheckTLS_withoutTLS(t *testing.T) {
	t.Parallel()
	for listen, warns := range map[string]bool{"127.0.0.1:8080": false, "localhost:8080": false, "[::1]:8080": false, ":8080": true, "0.0.0.0:80": true, "10.0.0.1:80": true} {
		f := &findings{}
		checkTLS(t.Context(), &serverfile.Server{File: &serverconfig.Config{Listen: listen}}, f)
		if (len(f.all) == 1 && f.all[0].Verdict == Warn) != warns {
			t.Errorf("%s: %+v", listen, f.all)
		}
	}
}

// Metrics that other machines reach are a warning, except in a pod.
func TestCheckMetrics_reachedByOthers(t *testing.T) {
	t.Parallel()
	for listen, warns := range map[string]bool{"": false, "127.0.0.1:9090": false, "[::1]:9090": false, ":9090": true, "10.0.0.1:9090": true} {
		for _, pod := range []bool{false, true} {
			f := &findings{}
			env := func(name string) (string, bool) { return "10.96.0.1", pod && name == "KUBERNETES_SERVICE_HOST" }
			checkMetrics(&serverfile.Server{Env: env, File: &serverconfig.Config{Metrics: serverconfig.Metrics{Listen: listen}}}, f)
			if (len(f.all) == 1 && f.all[0].Verdict == Warn) != (warns && !pod) {
				t.Errorf("%s, in a pod %t: %+v", listen, pod, f.all)
			}
		}
	}
}

func TestCheckTLS_certificateExpires(t *testing.T) {
	t.Parallel()
	folder, until := t.TempDir(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	certificatetest.Write(t, folder, "1", until)
	noEnv := func(string) (string, bool) { return "", false }
	file, problems := serverconfig.Load("server.yaml", fmt.Appendf(nil,
		"version: 1\nlisten: \":8443\"\ntls:\n  certificate: \"file:%s/tls.crt\"\n  key: \"file:%[1]s/tls.key\"\n", folder), noEnv)
	if file == nil {
		t.Fatal(problems)
	}
	for _, test := range []struct {
		at      time.Time
		message string
		verdict Verdict
	}{
		{until.AddDate(0, 0, -20), "expires in 20 days", OK},
		{until.AddDate(0, 0, -13), "expires in 13 days", Warn},
		{until.Add(-time.Hour), "expires within a day", Warn},
		{until.AddDate(0, 0, 2), "has expired", Warn},
	} {
		f := &findings{}
		checkTLS(t.Context(), &serverfile.Server{File: file, Now: func() time.Time { return test.at }}, f)
		if got := f.all[0]; got.Verdict != test.verdict || !strings.Contains(got.Message, test.message) {
			t.Errorf("at %v: %+v", test.at, got)
		}
	}
}
