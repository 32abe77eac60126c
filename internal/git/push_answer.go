package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// answer is what came back of a push.
type answer struct {
	report *packp.ReportStatus
	told   *words // to a person, beside the report
	err    error  // there is no report
}

// judge says what became of a push. Where the answer is not plain success, the
// branches are looked at: they say it.
func (m *Mirror) judge(ctx context.Context, updates []Update, a answer) error {
	if a.err == nil && a.report.Error() == nil {
		return nil
	}
	switch fault.KindOf(a.err) {
	case fault.Unauthorized, fault.NotFound, fault.RateLimited, fault.Invalid:
		return a.err // the server took nothing
	}
	refs, err := m.List(ctx)
	if err != nil {
		return errors.Join(a.err, fmt.Errorf("look what became of the push: %w", err))
	}
	left := slices.DeleteFunc(slices.Clone(updates), func(u Update) bool { return refs.Branches[u.Branch] == u.New })
	if len(left) == 0 {
		return nil // it was done, only the answer was lost
	}
	if err := m.took(updates, left); err != nil {
		return err
	}
	if err := lost(refs, left); err != nil {
		return err
	}
	if a.err != nil {
		return a.err
	}
	return a.refusal(left)
}

// took notes the branches that moved although others did not.
func (m *Mirror) took(updates, left []Update) error {
	if len(left) == len(updates) {
		return nil
	}
	for _, u := range updates {
		if _, held := m.Have(u.Branch); held && !slices.Contains(left, u) {
			m.point(u.Branch, ID{}) // fetched again before it is used
		}
	}
	return m.save()
}

// refusal makes an error of a report that refuses what nobody else has moved.
func (a answer) refusal(left []Update) error {
	var reasons []string
	for _, status := range a.report.CommandStatuses {
		of := func(u Update) bool { return plumbing.NewBranchReferenceName(u.Branch) == status.ReferenceName }
		if status.Error() != nil && slices.ContainsFunc(left, of) {
			reasons = append(reasons, outbound.Scrub(status.ReferenceName.Short()+": "+status.Status))
		}
	}
	kind := fault.Unauthorized
	if a.report.UnpackStatus != unpacked {
		kind = fault.Temporary
		reasons = append(reasons, outbound.Scrub("unpack: "+a.report.UnpackStatus))
	}
	text := strings.Join(reasons, "; ")
	if passing(text) {
		kind = fault.Temporary
	}
	if said := a.told.String(); said != "" {
		text += " (" + said + ")"
	}
	return fault.New(kind, "the server refuses: %s", text)
}

// unpacked is the status of a pack that was taken.
const unpacked = "ok"

// passing says that the reason of a refusal is no rule but a moment: servers lock
// a branch while they move it, and some call a lock that is taken an error.
func passing(reason string) bool {
	reason = strings.ToLower(reason)
	for _, known := range []string{"cannot lock ref", "failed to lock", "failed to update ref", "unable to create temporary", "timeout", "internal server error"} {
		if strings.Contains(reason, known) {
			return true
		}
	}
	return false
}
