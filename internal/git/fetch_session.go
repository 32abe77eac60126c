package git

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// fetching is the sessions of one fetch: each answers one request.
type fetching struct {
	session
	m          *Mirror
	advertised *packp.AdvRefs
	used       bool
}

// fetching opens the first session.
func (m *Mirror) fetching(ctx context.Context) (*fetching, error) {
	s, advertised, err := m.connect(ctx, uploadPack)
	if err != nil {
		return nil, err
	}
	return &fetching{session: s, m: m, advertised: advertised}, nil
}

// again opens the next session, if this one is used up.
func (f *fetching) again(ctx context.Context) error {
	if !f.used {
		f.used = true
		return nil
	}
	if err := f.Close(); err != nil {
		return err //nolint:wrapcheck // of our own session
	}
	s, advertised, err := f.m.connect(ctx, uploadPack)
	if err != nil {
		f.session = closed{}
		return err
	}
	f.session, f.advertised = s, advertised
	return nil
}

// closed is a session that is over.
type closed struct{ session }

// Close does nothing.
func (closed) Close() error { return nil }

// take brings the heads of a round into the mirror and checks that they are
// complete.
func (f *fetching) take(ctx context.Context, r round) error {
	before := slices.Collect(maps.Values(f.m.state.Branches))
	err := f.bring(ctx, r)
	if errors.Is(err, errNoAnswer) && !r.depth.since.IsZero() {
		// All heads are older than the time that was named: a branch was moved far
		// back. Some servers refuse that, and over HTTP their words are lost.
		r.depth = depth{commits: laterCommits}
		if err = f.bring(ctx, r); err == nil {
			f.m.forgetDepth(r.heads)
		}
	}
	if err != nil {
		return err
	}
	absent, err := f.m.lacking(ctx, r.heads, before)
	if err != nil || len(absent) == 0 {
		return err
	}
	return f.leftOut(ctx, r, absent, before)
}

// forgetDepth notes that the history of branches begins anew.
func (m *Mirror) forgetDepth(heads map[string]ID) {
	for branch := range heads {
		delete(m.state.Since, branch)
	}
}

// leftOut decides about blobs that did not arrive. They are over the limit if
// the server was asked to leave such out, and sent a whole commit without them.
func (f *fetching) leftOut(ctx context.Context, r round, absent []ID, before []ID) error {
	if !f.filters() {
		return errIncomplete
	}
	if len(before) > 0 {
		if err := f.bring(ctx, round{heads: r.heads, depth: depth{whole: true}}); err != nil {
			return err
		}
		absent = slices.DeleteFunc(absent, func(id ID) bool { return f.m.disk.HasEncodedObject(plumbing.Hash(id)) == nil })
	}
	f.m.state.TooLarge = append(f.m.state.TooLarge, absent...)
	return nil
}

// filters says that the server can leave out blobs for their size.
func (f *fetching) filters() bool { return f.advertised.Capabilities.Supports(capability.Filter) }

// bring makes the request of one round and keeps what it brings.
func (f *fetching) bring(ctx context.Context, r round) error {
	if err := f.again(ctx); err != nil {
		return err
	}
	request := f.request(r)
	response, err := f.upload(ctx, request)
	if err != nil {
		return err
	}
	err = f.m.keep(ctx, demultiplexed(response, request.Capabilities, nil))
	if err = errors.Join(err, response.Close()); err != nil {
		return err
	}
	if r.depth.whole {
		return nil
	}
	return f.m.moveBoundary(response.ShallowUpdate)
}

// request says what we want, what we have, and where our history ends. Without
// the last, a server with bitmaps would take it that we have everything below
// what we have, and leave out what a revert brings back.
func (f *fetching) request(r round) *packp.UploadPackRequest {
	request := packp.NewUploadPackRequest()
	remote := f.advertised.Capabilities
	request.Capabilities = offered(remote, capability.OFSDelta, capability.NoProgress, capability.Shallow)
	for _, band := range []capability.Capability{capability.Sideband64k, capability.Sideband} {
		if remote.Supports(band) {
			_ = request.Capabilities.Set(band) // fails for a capability with a value only
			break
		}
	}
	if f.filters() {
		_ = request.Capabilities.Set(capability.Filter) // the same
		request.Filter = packp.FilterBlobLimit(uint64(f.m.options.BlobLimit)+1, packp.BlobLimitPrefixNone)
	}
	request.Wants = hashes(slices.Collect(maps.Values(r.heads)))
	f.history(request, r.depth)
	return request
}

// history adds the depth, the boundary and the haves, as far as the server
// understands them.
func (f *fetching) history(request *packp.UploadPackRequest, d depth) {
	remote := f.advertised.Capabilities
	shallow := remote.Supports(capability.Shallow)
	if commits := max(d.commits, 1); (d.commits > 0 || d.whole) && shallow {
		request.Depth = packp.DepthCommits(commits)
	}
	if d.whole {
		return
	}
	if !d.since.IsZero() && remote.Supports(capability.DeepenSince) {
		_ = request.Capabilities.Set(capability.DeepenSince) // fails for a capability with a value only
		request.Depth = packp.DepthSince(d.since)
	}
	if shallow {
		request.Shallows = hashes(f.m.state.Shallow)
	}
	request.Haves = hashes(slices.Collect(maps.Values(f.m.state.Branches)))
}
