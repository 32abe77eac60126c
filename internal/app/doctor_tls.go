package app

import (
	"context"
	"log/slog"
	"strings"

	"promoter/internal/connect"
	"promoter/internal/outbound"
)

// tls reads the certificate as serve does, or says that there is none where others
// reach the service.
func (d *doctor) tls(ctx context.Context) {
	if !d.file.TLS.On() {
		if !outbound.IsLoopback(outbound.Hostname(d.file.Listen)) {
			d.say(VerdictWarn, "tls", "let a proxy speak TLS before it, or set tls", "%s is reached by others, and does not speak TLS", d.file.Listen)
		}
		return
	}
	found, err := d.server.OpenCertificate(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		if !d.failed("tls") {
			d.say(VerdictFail, "tls", "serve does not start with it: name a certificate and its key", "%v", err)
		}
		return
	}
	leaf := found.Leaf()
	says := connect.Expiry(leaf.NotAfter, d.server.Now())
	names := strings.Join(leaf.DNSNames, ", ")
	if leaf.NotAfter.Sub(d.server.Now()) <= connect.ExpiresSoon {
		d.say(VerdictWarn, "tls", "renew it: the files are read again by themselves", "the certificate for %s %s, on %s", names, says, leaf.NotAfter.UTC().Format("2006-01-02"))
		return
	}
	d.say(VerdictOK, "tls", "", "the certificate for %s %s", names, says)
}
