package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/utils/ioutil"

	"promoter/internal/fault"
)

// service is what a remote is asked for.
type service string

// The services of a remote: one sends objects to us, the other takes ours.
const (
	uploadPack  service = transport.UploadPackServiceName
	receivePack service = transport.ReceivePackServiceName
)

// session is one conversation with a remote: first it tells its references, then
// it answers one request.
type session interface {
	references(ctx context.Context) (*packp.AdvRefs, error)
	upload(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error)
	receive(ctx context.Context, request *packp.ReferenceUpdateRequest) (*packp.ReportStatus, error)
	io.Closer
}

// errNoAnswer says that the remote ended the session without an answer. Over HTTP
// and on disk its reason is lost.
var errNoAnswer = errors.New("the server ended the session without an answer")

// connect opens a session and returns what the remote said first.
func (m *Mirror) connect(ctx context.Context, asked service) (session, *packp.AdvRefs, error) {
	credential, err := m.credential(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := m.open(ctx, asked, credential)
	if err != nil {
		return nil, nil, credential.strike(err)
	}
	s = &careful{session: s, credential: credential}
	references, err := s.references(ctx)
	if err != nil {
		return nil, nil, end(s, err)
	}
	return s, references, nil
}

func (m *Mirror) open(ctx context.Context, asked service, credential Credential) (session, error) {
	switch m.remote.scheme {
	case "file":
		return openFile(m.remote, asked)
	case "ssh":
		w, err := dialSSH(ctx, m.options.Remote, m.remote, asked, credential)
		if err != nil {
			return nil, err
		}
		return &talk{wire: w, limit: m.answerLimit()}, nil
	default:
		return &talk{wire: newHTTPWire(m.options.Remote, m.remote, asked, credential), limit: m.answerLimit()}, nil
	}
}

// answerLimit is how many bytes an answer may have: a pack, and what goes before
// and beside it.
func (m *Mirror) answerLimit() int64 { return m.options.PackLimit + maxAdvertisement }

func (m *Mirror) credential(ctx context.Context) (Credential, error) {
	if m.options.Remote.Credential == nil {
		return Credential{}, nil
	}
	credential, err := m.options.Remote.Credential(ctx)
	if err != nil {
		return Credential{}, fmt.Errorf("find the credential of %s: %w", m.remote, err)
	}
	return credential, nil
}

// careful is a session whose errors never show the credential, in whatever form
// the remote may have sent it back.
type careful struct {
	session
	credential Credential
}

func (c *careful) references(ctx context.Context) (*packp.AdvRefs, error) {
	references, err := c.session.references(ctx)
	return references, c.credential.strike(err)
}

func (c *careful) upload(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	response, err := c.session.upload(ctx, request)
	return response, c.credential.strike(err)
}

func (c *careful) receive(ctx context.Context, request *packp.ReferenceUpdateRequest) (*packp.ReportStatus, error) {
	report, err := c.session.receive(ctx, request)
	return report, c.credential.strike(err)
}

// wire carries the bytes of one session.
type wire interface {
	// advertisement returns what the service says by itself.
	advertisement(ctx context.Context) (io.Reader, error)
	// exchange sends the request and returns the answer.
	exchange(ctx context.Context, request []byte) (io.ReadCloser, error)
	// explain waits for the last words of a service that failed, and returns an
	// error that holds them.
	explain(ctx context.Context, err error) error
	io.Closer
}

// talk is a session over a wire.
type talk struct {
	wire
	limit int64 // of an answer, in bytes
}

func (t *talk) references(ctx context.Context) (*packp.AdvRefs, error) {
	reader, err := t.advertisement(ctx)
	if err != nil {
		return nil, err
	}
	references := packp.NewAdvRefs()
	err = references.Decode(reader)
	if err != nil && !errors.Is(err, packp.ErrEmptyAdvRefs) {
		return nil, t.explain(ctx, err)
	}
	transport.FilterUnsupportedCapabilities(references.Capabilities)
	return references, nil
}

func (t *talk) upload(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	var asked bytes.Buffer
	if err := encodeUpload(&asked, request); err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	answer, err := t.exchange(ctx, asked.Bytes())
	if err != nil {
		return nil, err
	}
	response := packp.NewUploadPackResponse(request)
	bounded := &limited{Reader: answer, left: maxBefore, what: "the server's answer"}
	if err := response.Decode(ioutil.NewReadCloser(bounded, answer)); err != nil {
		return nil, t.explain(ctx, errors.Join(err, answer.Close()))
	}
	bounded.left += t.limit
	return response, nil
}

// maxBefore bounds what an answer says before its pack, in bytes: the ends of the
// history, each in about fifty, which are held in memory.
const maxBefore = 16 << 20

// encodeUpload writes wants, boundary and haves, and ends the negotiation before
// it begins: what we have is few, and known.
func encodeUpload(w io.Writer, request *packp.UploadPackRequest) error {
	if err := request.UploadRequest.Encode(w); err != nil {
		return err //nolint:wrapcheck // the caller wraps it
	}
	if err := request.UploadHaves.Encode(w, false); err != nil {
		return err //nolint:wrapcheck // the caller wraps it
	}
	_, err := io.WriteString(w, "0009done\n")
	return err //nolint:wrapcheck // the caller wraps it
}

func (t *talk) receive(ctx context.Context, request *packp.ReferenceUpdateRequest) (*packp.ReportStatus, error) {
	var asked bytes.Buffer
	if err := request.Encode(&asked); err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	answer, err := t.exchange(ctx, asked.Bytes())
	if err != nil {
		return nil, err
	}
	defer answer.Close() //nolint:errcheck // the report says what happened
	report := packp.NewReportStatus()
	bounded := &limited{Reader: answer, left: maxAdvertisement, what: "the server's report"}
	if err := report.Decode(demultiplexed(bounded, request.Capabilities, request.Progress)); err != nil {
		return nil, t.explain(ctx, err)
	}
	return report, nil
}

// limited is a reader that fails after so many bytes.
type limited struct {
	io.Reader
	left int64
	what string
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fault.New(fault.Invalid, "%s is larger than allowed", l.what)
	}
	return n, err //nolint:wrapcheck // io.EOF must stay itself
}

// maxAdvertisement bounds the list of a remote's references, in bytes: about half
// a million of them.
const maxAdvertisement = 64 << 20

func boundedAdvertisement(r io.Reader) io.Reader {
	return &limited{Reader: r, left: maxAdvertisement, what: "the server's list of references"}
}

// agent is how we call ourselves.
const agent = "promoter"

// offered takes over what both sides can do.
func offered(remote *capability.List, wanted ...capability.Capability) *capability.List {
	list := capability.NewList()
	for _, c := range wanted {
		if remote.Supports(c) {
			_ = list.Set(c) // fails for a capability with a value only
		}
	}
	if remote.Supports(capability.Agent) {
		_ = list.Set(capability.Agent, agent) // fails without a value only
	}
	return list
}
