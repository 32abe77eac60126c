package git

import (
	"context"
	"errors"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/file"

	"promoter/internal/fault"
)

// fileSession is a session with Git's own programs on this machine. The library
// starts them, and keeps their words to itself.
type fileSession struct {
	transport.Session
	up   transport.UploadPackSession
	down transport.ReceivePackSession
}

// openFile starts the service on a repository of this machine's disk.
func openFile(remote address, asked service) (session, error) {
	client := file.NewClient(string(uploadPack), string(receivePack))
	endpoint := &transport.Endpoint{Protocol: "file", Path: remote.path}
	var s fileSession
	var err error
	if asked == uploadPack {
		s.up, err = client.NewUploadPackSession(endpoint, nil)
		s.Session = s.up
	} else {
		s.down, err = client.NewReceivePackSession(endpoint, nil)
		s.Session = s.down
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "start Git's own program, which file:// needs on the PATH: %w", err)
	}
	return &s, nil
}

func (s *fileSession) references(ctx context.Context) (*packp.AdvRefs, error) {
	references, err := s.AdvertisedReferencesContext(ctx)
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return packp.NewAdvRefs(), nil
	}
	if err != nil {
		return nil, said(err)
	}
	return references, nil
}

func (s *fileSession) upload(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	response, err := s.up.UploadPack(ctx, request)
	if err != nil && ctx.Err() == nil && unsent(err) {
		err = fault.Wrap(fault.Temporary, errNoAnswer)
	}
	return response, said(err)
}

// unsent says that the program ended before it had read the whole request, as one
// does that refuses what is wanted. The library keeps the cause to itself.
func unsent(err error) bool {
	return strings.HasPrefix(err.Error(), "sending ") || strings.HasPrefix(err.Error(), "closing input")
}

func (s *fileSession) receive(ctx context.Context, request *packp.ReferenceUpdateRequest) (*packp.ReportStatus, error) {
	report, err := s.down.ReceivePack(ctx, request)
	if report != nil && len(report.CommandStatuses) > 0 {
		return report, nil // it holds its errors
	}
	if err == nil && !request.Capabilities.Supports(capability.ReportStatus) {
		return packp.NewReportStatus(), nil
	}
	return report, said(err)
}
