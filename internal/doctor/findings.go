package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"promoter/internal/fault"
)

// Verdict is the result of a check.
type Verdict string

// The verdicts.
const (
	OK   Verdict = "ok"
	Warn Verdict = "warn" // it works, but a user should act
	Fail Verdict = "fail"
)

// Finding is one check.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	Subject string  `json:"subject"` // "forge github", "repository acme/gitops"
	Message string  `json:"message"`
	Fix     string  `json:"fix,omitempty"` // what to do; empty with OK, or if Message contains it
}

// findings collects the results of checks, some of which run at the same time.
type findings struct {
	mutex sync.Mutex
	all   []Finding
}

func (f *findings) ok(subject, format string, args ...any) {
	f.add(Finding{Verdict: OK, Subject: subject, Message: fmt.Sprintf(format, args...)})
}

func (f *findings) warn(subject, fix, format string, args ...any) {
	f.add(Finding{Verdict: Warn, Subject: subject, Message: fmt.Sprintf(format, args...), Fix: fix})
}

func (f *findings) fail(subject, fix, format string, args ...any) {
	f.add(Finding{Verdict: Fail, Subject: subject, Message: fmt.Sprintf(format, args...), Fix: fix})
}

func (f *findings) add(one Finding) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.all = append(f.all, one)
}

// failed reports whether a check of the subject failed already.
func (f *findings) failed(subject string) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return slices.ContainsFunc(f.all, func(one Finding) bool { return one.Subject == subject && one.Verdict == Fail })
}

// sorted returns the findings by kind of subject, the server file first and the
// registries last.
func (f *findings) sorted() []Finding {
	kinds := []string{
		"secrets", "tls", "api", "database", "data", "signing", "traces", "url", "receivers", "receiver", "destination",
		"forges", "forge", "repositories", "repository", "registry",
	}
	slices.SortStableFunc(f.all, func(a, b Finding) int {
		kindA, nameA, _ := strings.Cut(a.Subject, " ")
		kindB, nameB, _ := strings.Cut(b.Subject, " ")
		return cmp.Or(slices.Index(kinds, kindA)-slices.Index(kinds, kindB), strings.Compare(nameA, nameB))
	})
	return f.all
}

// fixFor returns what to do about an error: by its kind, or else what is given.
func fixFor(err error, otherwise string) string {
	switch fault.KindOf(err) {
	case fault.Temporary:
		return "try again; if it stays, check the address, DNS, and what stands between"
	case fault.RateLimited:
		return "try again after that time"
	default:
		return otherwise
	}
}
