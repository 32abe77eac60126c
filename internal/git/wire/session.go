package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	gittransport "github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/utils/ioutil"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// Service is what a session is for.
type Service string

// The services of a remote.
const (
	UploadPack  Service = gittransport.UploadPackServiceName  // the remote sends a pack
	ReceivePack Service = gittransport.ReceivePackServiceName // the remote receives a pack
)

// The size limits of what a server sends, in bytes.
const (
	maxReferences = 64 << 20 // the list of references: about half a million
	maxBeforePack = 16 << 20 // the boundary of the history, 50 bytes per commit, held in memory
	maxReport     = 64 << 20 // the result of a push
)

// ErrNoResponse reports that the remote ended the session without a response. Over
// HTTP the server gives no reason.
var ErrNoResponse = errors.New("the server ended the session without a response")

// ErrPackTooLarge reports that the remote sent more than FetchRequest.PackLimit.
var ErrPackTooLarge = fault.New(fault.Invalid, "the pack is larger than allowed")

// transport carries the bytes of one session.
type transport interface {
	// advertisement returns what the service sends first.
	advertisement(ctx context.Context) (io.Reader, error)
	// exchange sends the request and returns the response.
	exchange(ctx context.Context, request []byte) (io.ReadCloser, error)
	// explain returns an error with the message of a service that failed. It may
	// have to wait for it.
	explain(ctx context.Context, err error) error
	io.Closer
}

// Session is one conversation with a remote: it has the remote's references and
// makes one request.
type Session struct {
	endpoint   Endpoint
	transport  transport
	credential Credential
	advertised *packp.AdvRefs
}

// Connect opens a session and receives the references of the remote.
func (e Endpoint) Connect(ctx context.Context, service Service) (*Session, error) {
	credential, err := e.login(ctx)
	if err != nil {
		return nil, err
	}
	s := &Session{endpoint: e, credential: credential, advertised: packp.NewAdvRefs()}
	switch e.scheme {
	case "file":
		s.transport, err = startLocal(ctx, e, service)
	case "ssh":
		s.transport, err = dialSSH(ctx, e, service, s.credential)
	default:
		s.transport = newHTTP(e, service, s.credential)
	}
	if err != nil {
		return nil, s.credential.redact(err)
	}
	if err := s.receiveReferences(ctx); err != nil {
		_ = s.Close() // the first error counts
		return nil, s.credential.redact(err)
	}
	gittransport.FilterUnsupportedCapabilities(s.advertised.Capabilities)
	return s, nil
}

// receiveReferences reads what the service sends first. An empty repository has no references.
func (s *Session) receiveReferences(ctx context.Context) error {
	reader, err := s.transport.advertisement(ctx)
	if err != nil {
		return err
	}
	limited := &limitedReader{reader: reader, left: maxReferences, name: "the server's list of references"}
	err = s.advertised.Decode(limited)
	if err == nil || errors.Is(err, packp.ErrEmptyAdvRefs) {
		return nil
	}
	return s.transport.explain(ctx, err)
}

// login returns the credential of the remote.
func (e Endpoint) login(ctx context.Context) (Credential, error) {
	if e.remote.Credential == nil {
		return Credential{}, nil
	}
	credential, err := e.remote.Credential(ctx)
	if err != nil {
		return Credential{}, fmt.Errorf("get the credential of %s: %w", e, err)
	}
	return credential, nil
}

// Close ends the session.
func (s *Session) Close() error { return s.transport.Close() }

// References returns all references of the remote by their full names.
func (s *Session) References() map[string]plumbing.Hash { return s.advertised.References }

// DefaultBranch returns the reference that the remote's HEAD points to; empty if the
// remote does not name it, as an empty repository does.
func (s *Session) DefaultBranch() string {
	for _, symbolic := range s.advertised.Capabilities.Get(capability.SymRef) {
		if target, ok := strings.CutPrefix(symbolic, "HEAD:"); ok {
			return target
		}
	}
	return ""
}

// CanFilter reports whether the server can leave out blobs by size.
func (s *Session) CanFilter() bool { return s.supports(capability.Filter) }

// CanDeepenSince reports whether the server can send history by time.
func (s *Session) CanDeepenSince() bool { return s.supports(capability.DeepenSince) }

func (s *Session) supports(c capability.Capability) bool {
	return s.advertised.Capabilities.Supports(c)
}

// agent is our name in the protocol.
const agent = "promoter"

// negotiate returns the capabilities that both sides have.
func (s *Session) negotiate(wanted ...capability.Capability) *capability.List {
	list := capability.NewList()
	for _, c := range wanted {
		if s.supports(c) {
			_ = list.Set(c) // fails only for a capability with a value
		}
	}
	if s.supports(capability.Agent) {
		_ = list.Set(capability.Agent, agent) // fails only without a value
	}
	return list
}

// FetchRequest is what to fetch. What the server does not support is left out.
type FetchRequest struct {
	Wants []plumbing.Hash
	Haves []plumbing.Hash
	// Shallow are the commits at which our history ends. Without them, the server
	// assumes that everything below Haves is here, too.
	Shallow []plumbing.Hash
	// Depth is the number of commits of history to fetch. Zero: down to Since, or to
	// Haves.
	Depth int
	// Since is the time of the oldest commit to fetch. Zero: no such limit.
	Since time.Time
	// BlobLimit is the size of the largest blob to fetch.
	BlobLimit int64
	// PackLimit is the size of the largest pack to receive.
	PackLimit int64
}

// Boundary is how a fetch changes the end of the shallow history.
type Boundary struct{ Shallow, Unshallow []plumbing.Hash }

// Fetch writes the pack that the server sends to a writer.
func (s *Session) Fetch(ctx context.Context, fetch FetchRequest, pack io.Writer) (Boundary, error) {
	request := packp.NewUploadPackRequest()
	request.Capabilities = s.negotiate(capability.OFSDelta, capability.NoProgress, capability.Shallow, capability.Sideband64k)
	if !s.supports(capability.Sideband64k) && s.supports(capability.Sideband) {
		_ = request.Capabilities.Set(capability.Sideband) // fails only for a capability with a value
	}
	if s.CanFilter() {
		_ = request.Capabilities.Set(capability.Filter)
		request.Filter = packp.FilterBlobLimit(uint64(fetch.BlobLimit)+1, packp.BlobLimitPrefixNone)
	}
	if s.supports(capability.Shallow) {
		request.Shallows = fetch.Shallow
		if fetch.Depth > 0 {
			request.Depth = packp.DepthCommits(fetch.Depth)
		}
	}
	if !fetch.Since.IsZero() && s.CanDeepenSince() {
		_ = request.Capabilities.Set(capability.DeepenSince)
		request.Depth = packp.DepthSince(fetch.Since)
	}
	request.Wants = fetch.Wants
	request.Haves = fetch.Haves

	var encoded bytes.Buffer
	if err := request.UploadRequest.Encode(&encoded); err != nil {
		return Boundary{}, fmt.Errorf("encode the request: %w", err)
	}
	if err := request.UploadHaves.Encode(&encoded, false); err != nil {
		return Boundary{}, fmt.Errorf("encode the request: %w", err)
	}
	encoded.WriteString("0009done\n") // no negotiation: our commits are few

	answer, err := s.transport.exchange(ctx, encoded.Bytes())
	if err != nil {
		return Boundary{}, s.credential.redact(err)
	}
	limited := &limitedReader{reader: answer, left: maxBeforePack, name: "the server's response"}
	response := packp.NewUploadPackResponse(request)
	if err := response.Decode(ioutil.NewReadCloser(limited, answer)); err != nil {
		return Boundary{}, s.credential.redact(s.transport.explain(ctx, errors.Join(err, answer.Close())))
	}
	limited.left += fetch.PackLimit + maxReferences // with what is sent beside the pack
	content := &limitedReader{reader: demultiplex(response, request.Capabilities, nil), left: fetch.PackLimit, err: ErrPackTooLarge}
	size, err := io.Copy(pack, content)
	if err == nil && size == 0 {
		err = ErrNoResponse
	}
	if err != nil {
		return Boundary{}, errors.Join(s.credential.redact(classify(err)), response.Close())
	}
	return Boundary{Shallow: response.Shallows, Unshallow: response.Unshallows}, response.Close()
}

// Command moves one branch of the remote; a zero hash creates or deletes it.
type Command struct {
	Branch   string
	Old, New plumbing.Hash
}

// Push sends commands and a pack and returns what became of them. Commands that only
// delete branches have no pack.
func (s *Session) Push(ctx context.Context, commands []Command, pack []byte) (*Report, error) {
	request := packp.NewReferenceUpdateRequest()
	request.Capabilities = s.negotiate(capability.ReportStatus, capability.Sideband64k,
		capability.Atomic, capability.DeleteRefs, capability.Quiet)
	if !request.Capabilities.Supports(capability.ReportStatus) {
		return nil, fault.New(fault.Invalid, "the server does not report the result of a push")
	}
	for _, c := range commands {
		if c.New.IsZero() && !request.Capabilities.Supports(capability.DeleteRefs) {
			return nil, fault.New(fault.Invalid, "the server does not support deleting branches")
		}
		request.Commands = append(request.Commands, &packp.Command{
			Name: plumbing.NewBranchReferenceName(c.Branch), Old: c.Old, New: c.New,
		})
	}
	if pack != nil {
		request.Packfile = io.NopCloser(bytes.NewReader(pack))
	}
	var encoded bytes.Buffer
	if err := request.Encode(&encoded); err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	answer, err := s.transport.exchange(ctx, encoded.Bytes())
	if err != nil {
		return nil, s.credential.redact(err)
	}
	defer answer.Close() //nolint:errcheck // the report has the result
	report := &Report{status: packp.NewReportStatus()}
	limited := &limitedReader{reader: answer, left: maxReport, name: "the server's report"}
	if err := report.status.Decode(demultiplex(limited, request.Capabilities, &report.messages)); err != nil {
		return nil, s.credential.redact(s.transport.explain(ctx, err))
	}
	return report, nil
}

// Report is what a server reports about a push.
type Report struct {
	status   *packp.ReportStatus
	messages serverText
}

// OK reports whether the server updated all branches.
func (r *Report) OK() bool { return r.status.Error() == nil }

// Err returns why the server refused to move the branches: Temporary if it may
// succeed later, otherwise Unauthorized with the server's messages.
func (r *Report) Err(branches ...string) error {
	named := map[plumbing.ReferenceName]bool{}
	for _, branch := range branches {
		named[plumbing.NewBranchReferenceName(branch)] = true
	}
	var reasons []string
	for _, status := range r.status.CommandStatuses {
		if status.Error() != nil && named[status.ReferenceName] {
			reasons = append(reasons, outbound.Scrub(status.ReferenceName.Short()+": "+status.Status))
		}
	}
	kind := fault.Unauthorized
	if r.status.UnpackStatus != "ok" {
		kind = fault.Temporary
		reasons = append(reasons, outbound.Scrub("unpack: "+r.status.UnpackStatus))
	}
	text := strings.Join(reasons, "; ")
	for _, temporary := range []string{
		"cannot lock ref", "failed to lock", "failed to update ref", "unable to create temporary", "timeout", "internal server error",
	} {
		if strings.Contains(strings.ToLower(text), temporary) {
			kind = fault.Temporary
		}
	}
	if messages := r.messages.String(); messages != "" {
		text += " (" + messages + ")"
	}
	return fault.New(kind, "the server rejected the push: %s", text)
}

// demultiplex extracts an answer from the sideband, if it uses one. Messages of the
// server are written to progress.
func demultiplex(answer io.Reader, agreed *capability.List, progress sideband.Progress) io.Reader {
	kind := sideband.Sideband64k
	switch {
	case agreed.Supports(capability.Sideband64k):
	case agreed.Supports(capability.Sideband):
		kind = sideband.Sideband
	default:
		return answer
	}
	demuxer := sideband.NewDemuxer(kind, answer)
	demuxer.Progress = progress
	return demuxer
}

// limitedReader is a reader that fails after a number of bytes.
type limitedReader struct {
	reader io.Reader
	left   int64
	name   string // of what is read, for the error
	err    error  // instead of the one with the name
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.reader.Read(p)
	if l.left -= int64(n); l.left < 0 && l.err != nil {
		return 0, l.err
	}
	if l.left < 0 {
		return 0, fault.New(fault.Invalid, "%s is larger than allowed", l.name)
	}
	return n, err
}
