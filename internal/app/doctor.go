package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// Verdict is how a check ended.
type Verdict string

// The verdicts.
const (
	VerdictOK   Verdict = "ok"
	VerdictWarn Verdict = "warn" // it works, and somebody should look at it
	VerdictFail Verdict = "fail"
)

// Finding is one check of Doctor.
type Finding struct {
	Verdict Verdict
	Subject string // "forge github", "repository acme/gitops"
	Says    string
	Fix     string // what to do; empty with VerdictOK, and where Says has it
}

// doctor looks at what a server's file names, and changes nothing.
type doctor struct {
	server      *connect.Server
	connections *connect.Connections
	file        *serverconfig.Config // that of server

	mu       sync.Mutex
	findings []Finding
	heard    map[string]heard // by host
}

// heard is what a host said about its clock and its limit last.
type heard struct {
	answer    outbound.Exchange
	remaining int // below zero: it does not say
}

// Doctor checks all that the server's file names. An error says that it could not
// look; what is wrong is in the findings.
func Doctor(ctx context.Context, options connect.Options) (findings []Finding, err error) {
	s, err := connect.OpenService(options)
	if err != nil {
		return nil, err
	}
	d := &doctor{server: s, file: s.File, heard: map[string]heard{}}
	if d.connections, err = connect.New(s, connect.Hooks{Request: d.hear}); err != nil {
		return nil, err
	}
	d.secrets()
	d.tls(ctx)
	d.receivers()
	d.database(ctx)
	d.traced(ctx)
	session, err := d.connections.Open(ctx, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	d.apps(ctx, session)
	d.repositories(ctx, session)
	d.hosts()
	slices.SortStableFunc(d.findings, inOrder)
	return d.findings, context.Cause(ctx)
}

// inOrder puts together what was asked side by side: the file first, the registries
// last.
func inOrder(a, b Finding) int {
	order := []string{"secrets", "tls", "api", "database", "data", "traces", "url", "receivers", "receiver", "forges", "forge", "repositories", "repository", "registry"}
	kindA, nameA, _ := strings.Cut(a.Subject, " ")
	kindB, nameB, _ := strings.Cut(b.Subject, " ")
	return cmp.Or(slices.Index(order, kindA)-slices.Index(order, kindB), strings.Compare(nameA, nameB))
}

func (d *doctor) say(verdict Verdict, subject, fix, format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.findings = append(d.findings, Finding{Verdict: verdict, Subject: subject, Says: fmt.Sprintf(format, args...), Fix: fix})
}

// hear remembers what hosts say in passing. An answer that says nothing of a limit
// leaves what was said before.
func (d *doctor) hear(_ context.Context, to string, answer outbound.Exchange) {
	if answer.Status == 0 || to != connect.ToForge {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	remaining := answer.Remaining
	if known, ok := d.heard[answer.Host]; ok && remaining < 0 {
		remaining = known.remaining
	}
	d.heard[answer.Host] = heard{answer: answer, remaining: remaining}
}

// fixOf says what to do about an error by its kind.
func fixOf(err error, otherwise string) string {
	switch fault.KindOf(err) {
	case fault.Temporary:
		return "try again; if it stays, check the address, DNS, and what stands between"
	case fault.RateLimited:
		return "try again after that time"
	default:
		return otherwise
	}
}
