package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/outbound"
	"promoter/internal/scm/github"
	"promoter/internal/serverfile"
)

// checkApps compares the GitHub App of each forge with what promoter needs of one.
func checkApps(ctx context.Context, session *connect.Session, f *findings) {
	s := session.Server
	for _, forge := range s.Forges() {
		opened := session.Forge(forge.Name)
		if opened.Err != nil || opened.App == nil {
			continue // each of its repositories reports it
		}
		subject := "forge " + forge.Name
		missing, err := opened.App.GitHub.Missing(ctx)
		if err != nil {
			f.fail(subject, fixFor(err, "see docs/github.md"), "%v", err)
			continue
		}
		checkPermissions(subject, missing, f)
		_, own := serverfile.AppReceiver(s.File, forge.Name)
		shared := slices.ContainsFunc(s.File.Receivers, func(r serverconfig.Receiver) bool { return r.Kind == "github" && r.App == "" })
		if own || shared { // a receiver waits for its webhooks
			checkEvents(subject, missing, s.File.Poll, f)
		}
	}
}

func checkPermissions(subject string, missing github.Missing, f *findings) {
	fix := "add them at " + missing.At + ", then an owner of each account accepts them"
	if len(missing.Always) > 0 {
		f.fail(subject, fix, "the App %s does not ask for permissions that are always needed: %s", missing.App,
			listPermissions(missing.Always, false))
	}
	if len(missing.Sometimes) > 0 {
		f.warn(subject, "if so, "+fix, "the App %s does not ask for permissions that are needed sometimes: %s", missing.App,
			listPermissions(missing.Sometimes, true))
	}
	if len(missing.Always)+len(missing.Sometimes) == 0 {
		f.ok(subject, "the App %s asks for the permissions that are needed", missing.App)
	}
}

// listPermissions joins permissions, optionally with when they are needed.
func listPermissions(permissions []github.Permission, when bool) string {
	var names []string
	for _, p := range permissions {
		name := p.String()
		if when {
			name += fmt.Sprintf(" (if %s)", p.Optional)
		}
		names = append(names, name)
	}
	return strings.Join(names, "; ")
}

func checkEvents(subject string, missing github.Missing, poll time.Duration, f *findings) {
	if len(missing.Events) == 0 {
		f.ok(subject, "the App %s subscribes to the events that are needed", missing.App)
		return
	}
	fix := "tick them at " + missing.At + ", unless a webhook of the organization or the repositories sends them"
	f.warn(subject, fix, "the App %s does not subscribe to %s: what they report is found only by the poll, every %v",
		missing.App, strings.Join(missing.Events, ", "), poll)
}

// hosts collects what the forges report in the headers of all responses.
type hosts struct {
	mutex sync.Mutex
	last  map[string]hostStatus // by host
}

// hostStatus is the clock and the rate limit of a host.
type hostStatus struct {
	skew      time.Duration
	remaining int // requests; below zero: not reported
}

// observe is a hook of the HTTP clients. A response without a rate limit leaves the last
// one.
func (h *hosts) observe(_ context.Context, to string, answer outbound.Exchange) {
	if answer.Status == 0 || to != connect.ToForge {
		return
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	remaining := answer.Remaining
	if known, ok := h.last[answer.Host]; ok && remaining < 0 {
		remaining = known.remaining
	}
	h.last[answer.Host] = hostStatus{skew: answer.Skew, remaining: remaining}
}

// Thresholds of warnings.
const (
	maxSkew      = 30 * time.Second
	minRemaining = 200 // requests
)

func checkHosts(h *hosts, f *findings) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for _, host := range slices.Sorted(maps.Keys(h.last)) {
		subject, status := "forge "+host, h.last[host]
		if skew := status.skew.Round(time.Second); skew.Abs() > maxSkew {
			f.warn(subject, "set the clock of this machine, for instance with NTP", "its clock differs from this machine's by %v", skew)
		}
		switch {
		case status.remaining < 0:
			f.ok(subject, "answers")
		case status.remaining < minRemaining:
			f.warn(subject, "poll less often, or use a GitHub App, which has more",
				"answers, and allows %d requests more for now", status.remaining)
		default:
			f.ok(subject, "answers, and allows %d requests more for now", status.remaining)
		}
	}
}
