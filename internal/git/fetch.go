package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"promoter/internal/fault"
	"promoter/internal/git/object"
	"promoter/internal/git/wire"
)

// errIncomplete reports that a pack lacks objects, or cannot be read.
var errIncomplete = errors.New("objects are missing from what the server sent")

// incomplete turns a missing object into errIncomplete.
func incomplete(err error) error {
	if errors.Is(err, object.ErrMissing) {
		return fmt.Errorf("%w: %w", errIncomplete, err)
	}
	return err
}

// How many commits of a branch are fetched that is not in the mirror yet. One is
// enough to read files. A later branch is usually one commit on top of another
// branch, whose changes can only be seen with its parent.
const (
	firstDepth = 1
	laterDepth = 2
)

// Fetch fetches branches and returns their commits; branches that the remote does
// not have are left out. A branch that is not in the mirror is fetched at depth 1 if
// it is the only one, otherwise at depth 2; other branches are fetched with their
// history since. If the result is incomplete, Fetch empties the mirror and fetches
// again.
//
// After List, it fetches the commits that were listed, and makes no request if the
// mirror has them.
func (m *Mirror) Fetch(ctx context.Context, branches ...string) (map[string]object.ID, error) {
	for _, branch := range branches {
		if err := checkBranch(branch); err != nil {
			return nil, err
		}
	}
	if found, ok := m.listing.current(m.state, branches); ok {
		return found, nil
	}
	var found map[string]object.ID
	err := m.retryIncomplete(ctx, func() (err error) {
		found, err = m.fetch(ctx, branches)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("fetch from %s: %w", m.endpoint, err)
	}
	return found, nil
}

// retryIncomplete repeats the work in an empty mirror if objects are missing. An
// ended context is not a reason to empty the mirror. Work that a listing made from
// earlier may have failed because a branch has moved since, so it is repeated with a new one.
func (m *Mirror) retryIncomplete(ctx context.Context, work func() error) error {
	for attempt := 1; ; attempt++ {
		listed := m.listing != nil
		err := work()
		if err != nil && listed && ctx.Err() == nil && fault.KindOf(err) == fault.Temporary {
			m.listing = nil
			err = work()
		}
		if !errors.Is(err, errIncomplete) {
			return err
		}
		if ctx.Err() != nil {
			return fault.Wrap(fault.Temporary, context.Cause(ctx))
		}
		if err := m.reset(); err != nil {
			return err
		}
		if attempt >= m.options.Attempts {
			return fault.Wrap(fault.Temporary, err)
		}
	}
}

// fetch is one attempt of Fetch: it lists the remote's branches, fetches what has
// changed, and records where the branches are.
func (m *Mirror) fetch(ctx context.Context, branches []string) (map[string]object.ID, error) {
	f, err := m.newFetcher(ctx)
	if err != nil {
		return nil, err
	}
	transferred, err := f.fetch(ctx, branches)
	if err := f.close(err); err != nil {
		return nil, err
	}
	found := m.state.record(f.refs, branches)
	var joining error
	if transferred {
		joining = m.packs.joinSmallPacks()
	}
	return found, errors.Join(joining, m.state.write(m.dir))
}

// fetchStep is what one session fetches: the commits of some branches, and how much
// of their history.
type fetchStep struct {
	heads map[string]object.ID // by branch
	depth int                  // number of commits; zero: down to since
	since time.Time            // zero: down to what the mirror has
	// whole fetches without naming what the mirror has, for comparison.
	whole bool
}

// plan returns the steps that fetch the branches. Branches at commits that the
// mirror has need none.
func (m *Mirror) plan(refs Refs, branches []string) ([]fetchStep, error) {
	stored := m.state.heads()
	added, moved := map[string]object.ID{}, map[string]object.ID{}
	for _, branch := range branches {
		id, exists := refs.Branches[branch]
		if !exists || slices.Contains(stored, id) {
			continue
		}
		if _, have := m.state.Branches[branch]; have {
			moved[branch] = id
		} else {
			added[branch] = id
		}
	}
	steps, err := m.planMoved(moved)
	if err != nil || len(added) == 0 {
		return steps, err
	}
	depth := laterDepth
	if len(stored) == 0 && len(added) == 1 {
		depth = firstDepth
	}
	return append(steps, fetchStep{heads: added, depth: depth}), nil
}

// sameHorizon is how far apart the ends of two branches' histories may be if they
// are fetched together, because the history in between may be sent for both.
const sameHorizon = 7 * 24 * time.Hour

// planMoved returns the steps for branches that have moved. Branches whose history
// ends at about the same time are fetched together; an old branch would otherwise
// bring the history of all others since.
func (m *Mirror) planMoved(moved map[string]object.ID) ([]fetchStep, error) {
	type branchEnd struct {
		branch string
		end    time.Time
	}
	var ends []branchEnd
	for branch := range moved {
		end, err := m.horizon(branch)
		if err != nil {
			return nil, err
		}
		ends = append(ends, branchEnd{branch, end})
	}
	slices.SortFunc(ends, func(a, b branchEnd) int { return a.end.Compare(b.end) })
	var steps []fetchStep
	for _, e := range ends {
		if n := len(steps); n == 0 || e.end.Sub(steps[n-1].since) > sameHorizon {
			steps = append(steps, fetchStep{heads: map[string]object.ID{}, since: e.end})
		}
		steps[len(steps)-1].heads[e.branch] = moved[e.branch]
	}
	return steps, nil
}

// horizon returns the time down to which the mirror has the history of a branch:
// that of its oldest commit, or the time to which it was deepened. Zero: the mirror
// has all history. A fetch must name it, because after a forced push to an older
// commit the server would send everything since the first commit.
func (m *Mirror) horizon(branch string) (time.Time, error) {
	if len(m.state.Shallow) == 0 {
		return time.Time{}, nil
	}
	oldest, _, err := oldestStored(m.Objects, m.state.Branches[branch])
	if err != nil {
		return time.Time{}, err
	}
	end := oldest.Committer.When
	if since, ok := m.state.Since[branch]; ok && since.Before(end) {
		end = since
	}
	return end, nil
}

// oldestStored returns the last commit of the first-parent history that is stored, and the
// number of its commits.
func oldestStored(objects *object.Store, head object.ID) (last object.Commit, count int, err error) {
	for last, err = range objects.History(head) {
		if err != nil {
			return last, count, incomplete(err)
		}
		count++
	}
	return last, count, nil
}

// fetcher makes the requests of one fetch. A session answers only one request.
type fetcher struct {
	m       *Mirror
	refs    Refs
	session *wire.Session // nil: the last one failed to open
	used    bool
}

// newFetcher opens a session with the references of the listing, if there is one and the
// transport can; otherwise it receives them.
func (m *Mirror) newFetcher(ctx context.Context) (*fetcher, error) {
	if m.listing != nil && m.listing.session.CanResume() {
		session, err := m.listing.session.Resume(ctx)
		return &fetcher{m: m, refs: m.listing.refs, session: session}, err
	}
	session, err := m.endpoint.Connect(ctx, wire.UploadPack)
	if err != nil {
		return nil, err
	}
	return &fetcher{m: m, refs: refsOf(session), session: session}, nil
}

// reconnect opens a session for another request.
func (f *fetcher) reconnect(ctx context.Context) error {
	earlier := f.session
	if err := f.close(nil); err != nil {
		return err
	}
	var err error
	if earlier.CanResume() {
		f.session, err = earlier.Resume(ctx)
	} else {
		f.session, err = f.m.endpoint.Connect(ctx, wire.UploadPack)
	}
	return err
}

// close closes the session after an error or without one.
func (f *fetcher) close(err error) error {
	if f.session == nil {
		return err
	}
	if closing := f.session.Close(); err == nil {
		err = closing
	}
	f.session = nil
	return err
}

// fetch brings what the mirror lacks of the branches, and reports whether that was anything.
func (f *fetcher) fetch(ctx context.Context, branches []string) (transferred bool, err error) {
	steps, err := f.m.plan(f.refs, branches)
	if err != nil {
		return false, err
	}
	for _, step := range steps {
		if err := f.run(ctx, step); err != nil {
			return false, err
		}
	}
	return len(steps) > 0, nil
}

// run fetches the commits of a step and checks that they are complete.
func (f *fetcher) run(ctx context.Context, step fetchStep) error {
	stored := f.m.state.heads()
	err := f.transfer(ctx, step)
	if errors.Is(err, wire.ErrNoResponse) && !step.since.IsZero() {
		// All commits are older than the time, after a forced push to an older
		// commit. Some servers refuse that.
		step = fetchStep{heads: step.heads, depth: laterDepth}
		if err = f.transfer(ctx, step); err == nil {
			for branch := range step.heads {
				delete(f.m.state.Since, branch)
			}
		}
	}
	if err != nil {
		return err
	}
	absent, err := f.verify(ctx, step.heads, stored)
	if err != nil || len(absent) == 0 {
		return err
	}
	// Blobs are missing. They exceed the limit if the server was asked to leave out
	// such blobs, and also leaves them out when it sends the whole commit.
	if !f.session.CanFilter() {
		return errIncomplete
	}
	if len(stored) > 0 {
		if err := f.transfer(ctx, fetchStep{heads: step.heads, depth: 1, whole: true}); err != nil {
			return err
		}
		absent = slices.DeleteFunc(absent, f.m.Objects.Has)
	}
	f.m.state.TooLarge = append(f.m.state.TooLarge, absent...)
	return nil
}

// verify checks that the new commits are stored with their history and trees, as far
// as they differ from commits that were verified before. It returns the blobs that
// are not stored and not known as too large.
func (f *fetcher) verify(ctx context.Context, heads map[string]object.ID, verified []object.ID) ([]object.ID, error) {
	commits := map[object.ID]bool{}
	seen := map[object.ID]bool{}
	for _, id := range verified {
		commits[id] = true
	}
	var absent []object.ID
	for branch, head := range heads {
		base, ok := f.m.state.Branches[branch]
		if !ok && len(verified) > 0 {
			base = verified[0]
		}
		if err := f.m.Objects.CheckHistory(ctx, head, commits); err != nil {
			return nil, incomplete(err)
		}
		blobs, err := f.m.Objects.AbsentBlobs(ctx, head, base, seen)
		if err != nil {
			return nil, incomplete(err)
		}
		absent = append(absent, blobs...)
	}
	return absent, nil
}

// incomingPack is the prefix of the file to which a pack is received.
const incomingPack = "incoming-"

// transfer makes the request of one step: it receives the pack to a file, indexes it within its
// limits, and adds it to the mirror. It names where the history of the mirror ends;
// otherwise, a server with bitmaps assumes that the mirror has everything below its
// commits, and leaves out what a revert brings back.
func (f *fetcher) transfer(ctx context.Context, step fetchStep) error {
	m := f.m
	if f.used {
		if err := f.reconnect(ctx); err != nil {
			return err
		}
	}
	f.used = true
	room, err := m.packs.room(m.options.DiskLimit)
	if err != nil {
		return err
	}
	if room <= 0 {
		return f.tooLarge(step, room)
	}
	request := wire.FetchRequest{
		Wants:     hashes(slices.Collect(maps.Values(step.heads))),
		Depth:     step.depth,
		Since:     step.since,
		BlobLimit: m.options.BlobLimit,
		PackLimit: min(m.options.PackLimit, room),
	}
	if !step.whole {
		request.Shallow = hashes(m.state.Shallow)
		request.Haves = hashes(m.state.heads())
	}

	file, err := os.CreateTemp(m.dir, incomingPack)
	if err != nil {
		return fmt.Errorf("receive a pack: %w", err)
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name()) // unless the mirror has it now; what stays is removed when the mirror is opened
	}()
	boundary, err := f.session.Fetch(ctx, request, file)
	if errors.Is(err, wire.ErrPackTooLarge) {
		return f.tooLarge(step, room)
	}
	if err != nil {
		return err
	}
	index, count, err := indexPack(&contextReader{ctx: ctx, file: file}, m.options.ObjectLimit)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("receive a pack: %w", err)
	}
	if count > 0 {
		if err := m.packs.takePack(file.Name(), index); err != nil { // an empty mirror has more room
			return fmt.Errorf("%w: %w", errIncomplete, err)
		}
	}
	if step.whole {
		return nil
	}
	return f.moveBoundary(boundary)
}

// tooLarge returns the error of a step that exceeds a limit. If the packs of earlier fetches took
// the room, a new mirror has more of it, so this one is replaced when it is opened again. If the
// mirror is new, the branches themselves are too large.
func (f *fetcher) tooLarge(step fetchStep, room int64) error {
	if room < f.m.options.PackLimit && !f.m.fresh {
		f.m.packs.full = true
	}
	return packTooLarge(step, room, f.m.options)
}

// contextReader reads a file until the context ends.
type contextReader struct {
	ctx  context.Context //nolint:containedctx // for one call
	file *os.File
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.file.Read(p)
}

// Seek implements io.Seeker.
func (r *contextReader) Seek(offset int64, whence int) (int64, error) {
	return r.file.Seek(offset, whence)
}

// moveBoundary records where the shallow history ends now. A server that is asked for
// a number of commits also names commits of which the mirror has the parents; one
// that is asked by time also names commits that it does not send.
func (f *fetcher) moveBoundary(update wire.Boundary) error {
	m := f.m
	ends := map[object.ID]bool{}
	for _, id := range m.state.Shallow {
		ends[id] = true
	}
	for _, hash := range update.Shallow {
		id := object.ID(hash)
		if !m.Objects.Has(id) {
			continue
		}
		complete, err := m.Objects.HasParents(id)
		if err != nil {
			return incomplete(err)
		}
		if !complete {
			ends[id] = true
		}
	}
	for _, hash := range update.Unshallow {
		delete(ends, object.ID(hash))
	}
	m.state.Shallow = slices.SortedFunc(maps.Keys(ends), func(a, b object.ID) int { return slices.Compare(a[:], b[:]) })
	return nil
}
