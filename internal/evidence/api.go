package evidence

import (
	"slices"
	"strings"
	"time"

	"promoter/internal/event"
	"promoter/internal/fault"
	"promoter/internal/health"
)

// Posted is what users post about their own checks, such as a smoke test.
type Posted struct {
	Repository  string    `json:"repository"` // a URL, or HOST/OWNER/NAME
	Environment string    `json:"environment"`
	Application string    `json:"application"`
	Status      string    `json:"status"`
	Sync        string    `json:"sync"`
	Message     string    `json:"message"`
	Revision    string    `json:"revision"` // the commit
	Revisions   []string  `json:"revisions"`
	Digests     []string  `json:"digests"` // of images
	At          time.Time `json:"at"`
}

// Report returns the report. The errors name what to correct.
func (p Posted) Report() (Report, error) {
	repository, err := p.repository()
	if err != nil {
		return Report{}, err
	}
	subject, err := p.subject()
	if err != nil {
		return Report{}, err
	}
	r := health.Report{Source: health.API, Subject: subject, Message: p.Message, At: p.At}
	var known bool
	if r.Status, known = health.ParseStatus(p.Status); !known {
		return Report{}, fault.New(fault.Invalid, "its status is none of %s", fault.List(health.Statuses()))
	}
	if r.Sync, known = health.ParseSync(p.Sync); !known {
		syncs := []health.Sync{health.Synced, health.OutOfSync, health.SyncUnknown}
		return Report{}, fault.New(fault.Invalid, "its sync is none of %s", fault.List(syncs))
	}
	if err := p.bind(&r); err != nil {
		return Report{}, err
	}
	return Report{Health: r.Bounded(), Repositories: []event.Repository{repository}}, nil
}

func (p Posted) repository() (event.Repository, error) {
	text := p.Repository
	if !strings.Contains(text, ":") || strings.Count(text, "/") > 1 && !strings.Contains(text, "://") && !strings.Contains(text, "@") {
		text = "https://" + text // HOST/OWNER/NAME, also with a port
	}
	repository, ok := RepositoryAt(text)
	if !ok || p.Repository == "" {
		return repository, fault.New(fault.Invalid, "it has no repository: a URL, or HOST/OWNER/NAME")
	}
	return repository, nil
}

func (p Posted) subject() (string, error) {
	if p.Environment == "" {
		return "", fault.New(fault.Invalid, "it has no environment")
	}
	for _, name := range []string{p.Environment, p.Application} {
		if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' }) || len(name) > health.MaxSubject/2 {
			return "", fault.New(fault.Invalid, "its environment or application is no name")
		}
	}
	if p.Application == "" {
		return p.Environment, nil
	}
	return p.Environment + "/" + p.Application, nil
}

// bind binds the report to what is deployed. A digest may be part of a reference.
func (p Posted) bind(r *health.Report) error {
	for _, revision := range append(slices.Clone(p.Revisions), p.Revision) {
		if revision != "" && !isCommit(revision) {
			return fault.New(fault.Invalid, "its revision is not the whole ID of a commit, in hex")
		}
		bind(r, revision)
	}
	for _, digest := range p.Digests {
		digest = digest[strings.LastIndex(digest, "@")+1:]
		if !isDigest(digest) {
			return fault.New(fault.Invalid, "one of its digests is not sha256: and 64 hex digits")
		}
		bind(r, digest)
	}
	if len(r.Revisions)+len(r.Digests) == 0 {
		return fault.New(fault.Invalid, "it has neither revision nor digests: name what is deployed")
	}
	if max(len(r.Revisions), len(r.Digests)) > health.MaxBindings {
		return fault.New(fault.Invalid, "it has more than %d revisions or digests", health.MaxBindings)
	}
	return nil
}
