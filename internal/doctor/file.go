package doctor

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"promoter/internal/certificate"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/outbound"
	"promoter/internal/serverfile"
	"promoter/internal/telemetry"
)

// checkSecrets resolves every reference of the file.
func checkSecrets(s *serverfile.Server, f *findings) {
	failed, count := map[string]bool{}, 0
	for _, one := range references(s) {
		if one.reference.IsZero() {
			continue
		}
		count++
		if _, err := one.reference.Resolve(s.SecretSources()); err != nil {
			failed[one.subject] = true
			f.fail(one.subject, "set the variable, or make the file readable for promoter", "%v", err)
		}
	}
	if len(failed) == 0 {
		f.ok("secrets", "%d of %d are there", count, count)
	}
	if _, _, err := s.APITokens(); err != nil && !failed["api"] {
		f.fail("api", "", "%v", err)
	}
}

// reference is a reference to a secret, and what it belongs to.
type reference struct {
	subject   string
	reference serverconfig.Reference
}

func references(s *serverfile.Server) (all []reference) {
	add := func(subject string, references ...serverconfig.Reference) {
		for _, one := range references {
			all = append(all, reference{subject, one})
		}
	}
	file := s.File
	add("database", file.Database.URL)
	add("tls", file.TLS.Certificate, file.TLS.Key)
	add("signing", file.Signing.Key, file.Signing.Passphrase)
	add("seals", file.Seal.Keys...)
	add("api", file.API.Token, file.API.SessionKey)
	if file.API.OIDC != nil {
		add("api", file.API.OIDC.ClientSecret)
	}
	for _, token := range slices.Concat(file.API.Tokens, file.API.Badges) {
		add("api", token.Token)
	}
	for _, forge := range file.Forges {
		subject := "forge " + forge.Name
		add(subject, forge.Token, forge.Password, forge.SSHKey, forge.KnownHosts)
		if forge.App == nil {
			continue
		}
		add(subject, forge.App.Key)
		if _, err := s.AppFolder(forge.Name).Read(); err != nil { // the setup page is required until the App exists
			add(subject, forge.App.Setup)
		}
	}
	for _, r := range file.Registries {
		add("registry "+r.Host, r.Password, r.Token, r.Login.Key, r.Login.Secret)
	}
	for _, d := range file.Destinations {
		add("destination "+d.Name, destinationReferences(d)...)
	}
	for _, header := range file.Traces.Headers {
		add("traces", header.Value)
	}
	for _, r := range file.Receivers {
		add("receiver "+r.Name, r.Secret, r.PathSecret)
		if r.Poll != nil {
			add("receiver "+r.Name, r.Poll.Token)
		}
	}
	for _, entry := range file.AfterLanding {
		if entry.Flux != nil {
			add("afterLanding "+entry.Name, entry.Flux.Token)
		}
	}
	return all
}

// checkTLS reads the certificate as the service does, or warns if the service listens for
// other machines without one.
func checkTLS(ctx context.Context, s *serverfile.Server, f *findings) {
	if !s.File.TLS.On() {
		if !outbound.IsLoopback(outbound.Hostname(s.File.Listen)) {
			f.warn("tls", "let a proxy speak TLS before it, or set tls", "%s is reached by others, and does not speak TLS", s.File.Listen)
		}
		return
	}
	opened, err := certificate.Open(ctx, s.Certificate(), slog.New(slog.DiscardHandler))
	if err != nil {
		if !f.failed("tls") {
			f.fail("tls", "serve does not start with it: name a certificate and its key", "%v", err)
		}
		return
	}
	leaf := opened.Leaf()
	expiry := certificate.Expiry(leaf.NotAfter, s.Now())
	names := strings.Join(leaf.DNSNames, ", ")
	if leaf.NotAfter.Sub(s.Now()) <= certificate.ExpiresSoon {
		f.warn("tls", "renew it: the files are read again by themselves", "the certificate for %s %s, on %s", names, expiry,
			leaf.NotAfter.UTC().Format("2006-01-02"))
		return
	}
	f.ok("tls", "the certificate for %s %s", names, expiry)
}

// inPod is a variable that Kubernetes sets in every pod.
// https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
const inPod = "KUBERNETES_SERVICE_HOST"

// checkMetrics warns if other machines reach the metrics. In a pod, a NetworkPolicy decides
// about that, which promoter does not see.
func checkMetrics(s *serverfile.Server, f *findings) {
	listen := s.File.Metrics.Listen
	if _, pod := s.Env(inPod); listen == "" || pod || outbound.IsLoopback(outbound.Hostname(listen)) {
		return
	}
	f.warn("metrics", "let a firewall allow only Prometheus, or listen on 127.0.0.1",
		"%s is reached by others, and names the environments of all repositories", listen)
}

// checkReceivers makes each receiver as the service does at its start. It sends no
// request.
func checkReceivers(c *connect.Connections, f *findings) {
	s := c.Server
	for _, entry := range s.File.Receivers {
		subject := "receiver " + entry.Name
		switch _, err := s.NewReceiver(entry, &http.Client{Transport: c.HTTP.Forges}); {
		case err != nil && f.failed(subject): // checkSecrets reported it
		case errors.Is(err, serverfile.ErrPollOnly): // checkPolls checks it
		case errors.Is(err, serverfile.ErrNoApp):
			f.warn(subject, "make the App at "+s.AppSetupURL(entry.App), "%v", serverfile.ErrNoApp)
		case err != nil:
			f.fail(subject, "serve does not start with it: see docs/webhooks.md", "%s", strings.TrimPrefix(err.Error(), subject+": "))
		case entry.Anonymous:
			f.warn(subject, "give it a credential: each webhook triggers a reconciliation", "accepts webhooks from any sender")
		default:
			f.ok(subject, "has a credential")
		}
	}
	switch {
	case len(s.File.Receivers) == 0:
		f.warn("receivers", "add receivers, or accept the delay",
			"there are none: new versions are found by the poll, every %v", s.File.Poll)
	case s.File.URL == "":
		f.warn("url", "write url: https://HOST", "the address at which senders reach promoter is not known")
	default:
		f.ok("url", "%s", s.File.URL)
	}
}

// checkPolls reads the Applications of Argo CD servers as the service does.
func checkPolls(ctx context.Context, c *connect.Connections, f *findings) {
	for _, entry := range c.Server.File.Receivers {
		subject := "receiver " + entry.Name
		if entry.Poll == nil || f.failed(subject) {
			continue
		}
		_, api, err := c.ArgoCD(entry.Name)
		if err != nil {
			continue // checkSecrets reported it
		}
		switch applications, err := api.Applications(ctx); {
		case err != nil:
			f.fail(subject, fixFor(err, "see docs/webhooks.md"), "%v", err)
		case len(applications) == 0:
			f.warn(subject, "let the account of the token get applications: see docs/webhooks.md",
				"Argo CD at %s lists no Applications", outbound.Host(entry.Poll.URL))
		default:
			f.ok(subject, "Argo CD at %s lists %d Applications", outbound.Host(entry.Poll.URL), len(applications))
		}
	}
}

const writeFix = "let promoter write there, or name another folder"

// checkDatabase checks that the database can be used, and leaves its tables as they are.
// A running service may hold the SQLite file open, so the file and its folder are
// checked. The mirrors are in the data folder, which may be another one.
func checkDatabase(ctx context.Context, s *serverfile.Server, f *findings) {
	if url := s.File.Database.URL; !url.IsZero() {
		checkPostgres(ctx, s, url, f)
		checkFolder("data", s.File.Data, f)
		return
	}
	path := s.DatabasePath()
	if filepath.Dir(path) != filepath.Clean(s.File.Data) {
		checkFolder("data", s.File.Data, f)
	}
	if !checkFolder("database", filepath.Dir(path), f) {
		return
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the path is the one of the server file
	switch {
	case os.IsNotExist(err): // serve creates it
	case err != nil:
		f.fail("database", "give the file to promoter's user", "the file cannot be written: %v", err)
		return
	default:
		_ = file.Close()
	}
	f.ok("database", "SQLite, in a folder that can be written")
}

// checkFolder reports whether files can be created in a folder. If not, or if the folder
// does not exist yet, that is a finding.
func checkFolder(subject, folder string, f *findings) bool {
	probe, err := os.CreateTemp(folder, ".doctor-*")
	switch {
	case os.IsNotExist(err):
		f.ok(subject, "%s is not there yet: serve makes it", folder)
		return false
	case err != nil:
		f.fail(subject, writeFix, "its folder cannot be written: %v", err)
		return false
	}
	writeErr := writeProbe(probe)
	_ = probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		f.warn(subject, "remove that file", "%v", err)
		return false
	}
	if writeErr != nil {
		f.fail(subject, "free some space, or make the volume larger", "nothing can be written to its folder: %v", writeErr)
		return false
	}
	return true
}

// probeSize is more than the space that a file system keeps for names and small files.
const probeSize = 1 << 20

// writeProbe writes to the disk: a full one lets files be created.
func writeProbe(file *os.File) error {
	if _, err := file.Write(make([]byte, probeSize)); err != nil {
		return err
	}
	return file.Sync()
}

func checkPostgres(ctx context.Context, s *serverfile.Server, url serverconfig.Reference, f *findings) {
	address, err := url.Resolve(s.SecretSources())
	if err != nil {
		return // checkSecrets reported it
	}
	at, known, err := database.SchemaVersion(ctx, address)
	switch {
	case err != nil:
		f.fail("database", fixFor(err, "see docs/database.md"), "%v", err)
	case at < known:
		f.ok("database", "PostgreSQL answers; its tables are at step %d, and serve brings them to %d", at, known)
	default:
		f.ok("database", "PostgreSQL answers; its tables are at step %d", at)
	}
}

// checkTraces sends an empty request to the collector. The service works without it, so
// an error is only a warning.
func checkTraces(ctx context.Context, c *connect.Connections, f *findings) {
	endpoint := c.Server.File.Traces.Endpoint
	if endpoint == "" || f.failed("traces") {
		return
	}
	if err := probeCollector(ctx, c); err != nil {
		f.warn("traces", fixFor(err, "see docs/operate/metrics.md"), "%v", err)
		return
	}
	f.ok("traces", "the collector at %s takes them", outbound.Host(endpoint))
}

func probeCollector(ctx context.Context, c *connect.Connections) error {
	options, err := c.TraceOptions("doctor")
	if err != nil {
		return err
	}
	return telemetry.Probe(ctx, options)
}
