package git

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"promoter/internal/fault"
)

// Update moves one branch of the remote from one commit to another.
type Update struct {
	Branch string
	Old    ID // what the branch must be at now; zero: there must be none
	New    ID // zero: the branch is deleted
}

// Push moves all branches in one session, and where the remote can do that, all
// of them or none. The objects that the remote lacks go with it. A branch that is
// not at Old any more is a Conflict fault: fetch, compute and push again. A
// refusal of any other kind is Unauthorized, with the server's words, and is not
// worth another try. An answer that was lost is looked up.
func (m *Mirror) Push(ctx context.Context, updates ...Update) error {
	if len(updates) == 0 {
		return nil
	}
	if err := checkUpdates(updates); err != nil {
		return err
	}
	p, err := m.push(ctx, updates)
	if err != nil {
		return fmt.Errorf("push to %s: %w", m.remote, err)
	}
	m.record(updates, p)
	return nil
}

// record takes over what was pushed. The push is done whatever becomes of that:
// a branch that cannot be recorded is fetched before it is used, and whatever is
// wrong with the disk is found there.
func (m *Mirror) record(updates []Update, p *pack) {
	owned := m.own(p) == nil
	for _, u := range updates {
		if owned {
			m.point(u.Branch, u.New)
		} else {
			m.point(u.Branch, ID{})
		}
	}
	_ = m.save() // an older state is as true
}

func checkUpdates(updates []Update) error {
	named := map[string]bool{}
	for _, u := range updates {
		if err := checkBranch(u.Branch); err != nil {
			return err
		}
		if named[u.Branch] || u.Old == u.New {
			return fault.New(fault.Invalid, "the push of %s has no meaning: it is named twice, or does not move", u.Branch)
		}
		named[u.Branch] = true
	}
	return nil
}

func (m *Mirror) push(ctx context.Context, updates []Update) (*pack, error) {
	s, advertised, err := m.connect(ctx, receivePack)
	if err != nil {
		return nil, err
	}
	if err := lost(refsOf(advertised), updates); err != nil {
		return nil, end(s, err)
	}
	p, err := m.packFor(updates, advertised)
	if err != nil {
		return nil, end(s, err)
	}
	request, told, err := pushRequest(updates, advertised.Capabilities, p)
	if err != nil {
		return nil, end(s, err)
	}
	report, sending := s.receive(ctx, request)
	_ = s.Close() // the report, or its absence, has said it all
	return p, m.judge(ctx, updates, answer{report: report, told: told, err: sending})
}

// lost returns a Conflict fault when a branch is not where it must be.
func lost(refs Refs, updates []Update) error {
	for _, u := range updates {
		if at := refs.Branches[u.Branch]; at != u.Old {
			return fault.New(fault.Conflict, "%s is at %s and not at %s any more", u.Branch, at, u.Old)
		}
	}
	return nil
}

// pushRequest makes the request. What the server says beside its report goes to
// the words.
func pushRequest(updates []Update, remote *capability.List, p *pack) (*packp.ReferenceUpdateRequest, *words, error) {
	request := packp.NewReferenceUpdateRequest()
	request.Capabilities = offered(remote, capability.ReportStatus, capability.Sideband64k, capability.Atomic, capability.DeleteRefs, capability.Quiet)
	if !request.Capabilities.Supports(capability.ReportStatus) {
		return nil, nil, fault.New(fault.Invalid, "the server does not report what becomes of a push")
	}
	for _, u := range updates {
		if u.New.IsZero() && !request.Capabilities.Supports(capability.DeleteRefs) {
			return nil, nil, fault.New(fault.Invalid, "the server deletes no branches")
		}
		request.Commands = append(request.Commands, &packp.Command{
			Name: plumbing.NewBranchReferenceName(u.Branch), Old: plumbing.Hash(u.Old), New: plumbing.Hash(u.New),
		})
	}
	told := &words{}
	request.Progress = told
	if p != nil {
		request.Packfile = p.reader()
	}
	return request, told, nil
}
