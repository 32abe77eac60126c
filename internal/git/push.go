package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"

	"promoter/internal/fault"
	"promoter/internal/git/object"
	"promoter/internal/git/wire"
)

// Update moves one branch of the remote from one commit to another.
type Update struct {
	Branch string
	Old    object.ID // the expected commit; zero: the branch must not exist
	New    object.ID // zero: delete the branch
}

// Push moves branches, all or none if the server supports that, and sends the
// objects that the remote lacks.
//
// It fails with Conflict if a branch is not at its Old commit: fetch, compute the
// commits again, and push again. Any other refusal is Unauthorized, with the
// server's messages, and will be repeated if the push is. If the response is lost,
// Push finds out what happened.
func (m *Mirror) Push(ctx context.Context, updates ...Update) error {
	if len(updates) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, u := range updates {
		if err := checkBranch(u.Branch); err != nil {
			return err
		}
		if names[u.Branch] || u.Old == u.New {
			return fault.New(fault.Invalid, "invalid push of %s: it is named twice, or does not move", u.Branch)
		}
		names[u.Branch] = true
	}
	if err := m.push(ctx, updates); err != nil {
		return fmt.Errorf("push to %s: %w", m.endpoint, err)
	}
	return nil
}

func (m *Mirror) push(ctx context.Context, updates []Update) error {
	p, err := m.openPush(ctx, updates)
	if err != nil {
		m.listing = nil
		return err
	}
	defer p.session.Close() //nolint:errcheck // the report has the result
	ids, err := missing(ctx, m.Objects, p.refs, updates)
	if err != nil {
		return err
	}
	var commands []wire.Command
	onlyDeletes := true
	for _, u := range updates {
		commands = append(commands, wire.Command{Branch: u.Branch, Old: plumbing.Hash(u.Old), New: plumbing.Hash(u.New)})
		onlyDeletes = onlyDeletes && u.New.IsZero()
	}
	var pack []byte // a push that only deletes branches has none
	if !onlyDeletes {
		var encoded bytes.Buffer
		if err := m.packs.encodePack(&encoded, hashes(ids)); err != nil {
			return err
		}
		pack = encoded.Bytes()
	}
	indexed := indexMeanwhile(pack)
	report, err := p.session.Push(ctx, commands, pack)
	index, unreadable := indexed()
	if p.resumed && nothingMoved(err) {
		// Ask for what the server supports now, and for its reason.
		m.state.Push = pushCapabilities{}
		return m.push(ctx, updates)
	}
	if err := m.judge(ctx, updates, report, err); err != nil {
		m.listing = nil
		if p.resumed && fault.KindOf(err) != fault.Conflict {
			m.state.Push = pushCapabilities{}
			_ = m.state.write(m.dir) // the error of the push counts
		}
		return err
	}

	// The push is done, whatever happens now. A branch that cannot be recorded is
	// removed, so that it is fetched before it is used.
	m.listing.move(updates)
	stored := len(ids) == 0 || unreadable == nil && m.packs.addPack(pack, index, ids) == nil
	for _, u := range updates {
		if !stored {
			u.New = object.ID{}
		}
		m.state.set(u.Branch, u.New)
	}
	_ = m.state.write(m.dir) // an older state is valid, too
	return nil
}

// indexMeanwhile indexes a pack that was made here, while the server stores it and looks into what it has.
func indexMeanwhile(pack []byte) func() (*idxfile.Writer, error) {
	var index *idxfile.Writer
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		if len(pack) > 0 {
			index, _, err = indexPack(bytes.NewReader(pack), object.MaxSize)
		}
	}()
	return func() (*idxfile.Writer, error) {
		<-done
		return index, err
	}
}

// pushSession is a session that pushes, and where the branches are.
type pushSession struct {
	session *wire.Session
	refs    Refs
	resumed bool // without a request of its own
}

// openPush opens a session that pushes. It fails with Conflict if a branch is not where
// it must be.
//
// If the listing shows the branches there, and the server is the one that an earlier
// push went to, the session sends no request for what is known: the server compares the
// commits of the branches once more.
func (m *Mirror) openPush(ctx context.Context, updates []Update) (pushSession, error) {
	listed := m.listing
	resumable := listed != nil && listed.session.CanResume()
	known := m.state.Push.Capabilities != "" && resumable && m.state.Push.Server == listed.session.Capabilities()
	if known && conflict(listed.refs, updates) == nil {
		session, err := listed.session.ResumePush(ctx, m.state.Push.Capabilities)
		return pushSession{session: session, refs: listed.refs, resumed: true}, err
	}
	session, err := m.endpoint.Connect(ctx, wire.ReceivePack)
	if err != nil {
		return pushSession{}, err
	}
	p := pushSession{session: session, refs: refsOf(session)}
	if resumable {
		m.state.Push = pushCapabilities{Server: listed.session.Capabilities(), Capabilities: session.Capabilities()}
	}
	if err := conflict(p.refs, updates); err != nil {
		return p, errors.Join(err, session.Close())
	}
	return p, nil
}

// Unpushed returns how many bytes of written objects are in memory, because they were not
// pushed yet.
func (m *Mirror) Unpushed() int64 { return m.packs.pending.size }

// conflict returns a Conflict error if a branch is not where it must be.
func conflict(refs Refs, updates []Update) error {
	for _, u := range updates {
		if at := refs.Branches[u.Branch]; at != u.Old {
			return fault.New(fault.Conflict, "%s is at %s, no longer at %s", u.Branch, at, u.Old)
		}
	}
	return nil
}

// missing returns the objects of the new commits that the remote lacks, each once.
func missing(ctx context.Context, objects *object.Store, refs Refs, updates []Update) ([]object.ID, error) {
	var shared []object.ID
	for _, id := range refs.Branches {
		if objects.Has(id) {
			shared = append(shared, id)
		}
	}
	var all []object.ID
	seen := map[object.ID]bool{}
	for _, u := range updates {
		if u.New.IsZero() {
			continue
		}
		ids, err := objects.NewObjects(ctx, u.New, shared...)
		if err != nil {
			return nil, fmt.Errorf("find what is new in %s: %w", u.Branch, err)
		}
		for _, id := range ids {
			if !seen[id] {
				seen[id] = true
				all = append(all, id)
			}
		}
	}
	return all, nil
}

// nothingMoved reports whether the server refused a push as a whole.
func nothingMoved(err error) bool {
	switch fault.KindOf(err) {
	case fault.Unauthorized, fault.NotFound, fault.Invalid:
		return true
	}
	return false
}

// judge returns the error of a push. If the server does not report plain success, it
// lists the branches to see what happened.
func (m *Mirror) judge(ctx context.Context, updates []Update, report *wire.Report, sending error) error {
	if sending == nil && report.OK() {
		return nil
	}
	if nothingMoved(sending) || fault.KindOf(sending) == fault.RateLimited {
		return sending
	}
	refs, err := m.List(ctx)
	if err != nil {
		return errors.Join(sending, fmt.Errorf("verify the result of the push: %w", err))
	}
	failed := slices.DeleteFunc(slices.Clone(updates), func(u Update) bool { return refs.Branches[u.Branch] == u.New })
	if len(failed) == 0 {
		return nil // only the response was lost
	}
	if len(failed) < len(updates) {
		for _, u := range updates {
			if _, stored := m.Have(u.Branch); stored && !slices.Contains(failed, u) {
				m.state.set(u.Branch, object.ID{}) // it has moved: fetch it before it is used
			}
		}
		if err := m.state.write(m.dir); err != nil {
			return err
		}
	}
	if err := conflict(refs, failed); err != nil {
		return err
	}
	if sending != nil {
		return sending
	}
	var branches []string
	for _, u := range failed {
		branches = append(branches, u.Branch)
	}
	return report.Err(branches...)
}
