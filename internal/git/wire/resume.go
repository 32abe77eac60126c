package wire

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"promoter/internal/fault"
)

// CanResume reports whether further sessions can use the references that this one
// received. Over HTTP each request stands alone; a program sends its references to
// each session.
func (s *Session) CanResume() bool {
	_, ok := s.transport.(*httpTransport)
	return ok
}

// Resume opens another session with the references and the capabilities of this one,
// and sends no request for it. The server validates what is asked for, so that a
// reference that has moved since is an error at most.
func (s *Session) Resume(ctx context.Context) (*Session, error) {
	return s.resume(ctx, UploadPack, s.advertised.Capabilities)
}

// ResumePush opens a session that pushes, and sends no request for it. The capabilities
// are those of an earlier session that pushed to the same server. The session has no
// references: the server compares the old commits itself.
func (s *Session) ResumePush(ctx context.Context, capabilities string) (*Session, error) {
	list := capability.NewList()
	if err := list.Decode([]byte(capabilities)); err != nil {
		return nil, fault.New(fault.Invalid, "the capabilities of the server cannot be parsed")
	}
	return s.resume(ctx, ReceivePack, list)
}

func (s *Session) resume(ctx context.Context, service Service, capabilities *capability.List) (*Session, error) {
	earlier, ok := s.transport.(*httpTransport)
	if !ok {
		return nil, fault.New(fault.Internal, "a session with %s cannot be resumed", s.endpoint)
	}
	credential, err := s.endpoint.login(ctx) // a token may have expired
	if err != nil {
		return nil, err
	}
	next := newHTTP(s.endpoint, service, credential)
	next.base, next.left = earlier.base, earlier.left
	advertised := packp.NewAdvRefs()
	advertised.Capabilities = capabilities
	if service == UploadPack {
		advertised.References = s.advertised.References
	}
	return &Session{endpoint: s.endpoint, transport: next, credential: credential, advertised: advertised}, nil
}

// Capabilities returns what the server supports, for ResumePush and to notice another
// version of the server.
func (s *Session) Capabilities() string {
	stable := capability.NewList()
	_ = stable.Decode([]byte(s.advertised.Capabilities.String())) // they were decoded before
	stable.Delete(capability.SymRef)                              // of the repository
	stable.Delete("session-id")                                   // of the session
	return stable.String()
}
