// Package githttp serves one bare repository over smart HTTP with go-git, without the
// git command. It has no shallow clones, which is enough for small repositories.
//
// https://git-scm.com/docs/http-protocol
package githttp

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/server"
)

// Server serves one repository. Its requests must not run concurrently.
type Server struct {
	Storer storer.Storer
	// Refresh, if set, updates the branches before they are advertised.
	Refresh func(context.Context) error
	// Push moves branches after their objects have arrived.
	Push func(context.Context, []*packp.Command) error
}

// maxPush limits a client's request, in bytes.
const maxPush = 64 << 20

// ServeHTTP serves the three endpoints of the protocol, whatever the path before them.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch endpoint := r.Method + " " + path.Base(r.URL.Path); endpoint {
	case "GET refs": // …/info/refs
		s.infoRefs(w, r)
	case "POST " + transport.UploadPackServiceName:
		s.uploadPack(w, r)
	case "POST " + transport.ReceivePackServiceName:
		s.receivePack(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) infoRefs(w http.ResponseWriter, r *http.Request) {
	service := r.URL.Query().Get("service")
	session, err := s.session(service)
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if s.Refresh != nil {
		if err := s.Refresh(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
	}
	refs, err := session.AdvertisedReferencesContext(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if service == transport.UploadPackServiceName {
		for _, own := range ownCapabilities() {
			_ = refs.Capabilities.Set(own) // fails only with arguments
		}
	}
	refs.Prefix = [][]byte{[]byte("# service=" + service), pktline.Flush}
	answer(w, service+"-advertisement", refs.Encode)
}

// session starts a session of the library, which advertises the branches.
func (s *Server) session(service string) (transport.Session, error) {
	switch service {
	case transport.UploadPackServiceName:
		return s.library().NewUploadPackSession(only(), nil)
	case transport.ReceivePackServiceName:
		return s.library().NewReceivePackSession(only(), nil)
	default:
		return nil, fmt.Errorf("%.30q is not a service that this server has", service)
	}
}

func (s *Server) library() transport.Transport {
	return server.NewServer(server.MapLoader{only().String(): s.Storer})
}

// only returns the endpoint of the only repository.
func only() *transport.Endpoint { return &transport.Endpoint{Protocol: "file", Path: "/"} }

// answer sends a complete protocol response, or none.
func answer(w http.ResponseWriter, kind string, encode func(io.Writer) error) {
	var body bytes.Buffer
	if err := encode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-"+kind)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(body.Bytes()) // the client may have disconnected
}

// ownCapabilities returns what this server can do for fetches and the library cannot.
// Progress is never sent; Git accepts that only from servers with the capability.
func ownCapabilities() []capability.Capability {
	return []capability.Capability{capability.MultiACKDetailed, capability.NoProgress}
}

// uploadPack sends the objects that a client lacks. It acknowledges common commits only
// to clients that can read all acknowledgements; others receive all objects.
func (s *Server) uploadPack(w http.ResponseWriter, r *http.Request) {
	request, done, err := s.readUpload(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var common []plumbing.Hash
	if request.Capabilities.Supports(capability.MultiACKDetailed) {
		common = request.Haves
	}
	for _, own := range ownCapabilities() {
		request.Capabilities.Delete(own)
	}
	var pack *packp.UploadPackResponse
	if done {
		if pack, err = s.pack(r.Context(), request); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	answer(w, transport.UploadPackServiceName+"-result", func(out io.Writer) error {
		lines := pktline.NewEncoder(out)
		for _, commit := range common {
			if err := lines.Encodef("ACK %s common\n", commit); err != nil {
				return err
			}
		}
		switch {
		case pack == nil: // negotiation, until the client sends done
			return lines.EncodeString("NAK\n")
		case len(common) == 0:
			return pack.Encode(out)
		}
		err := lines.Encodef("ACK %s\n", common[len(common)-1])
		if err == nil {
			_, err = io.Copy(out, pack)
		}
		return err
	})
}

func (s *Server) pack(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	session, err := s.library().NewUploadPackSession(only(), nil)
	if err != nil {
		return nil, err
	}
	return session.UploadPack(ctx, request)
}

// readUpload reads the wants and haves of a client, and whether the client is
// done.
func (s *Server) readUpload(r *http.Request) (request *packp.UploadPackRequest, done bool, err error) {
	body, err := bodyOf(r)
	if err != nil {
		return nil, false, err
	}
	request = packp.NewUploadPackRequest()
	if err := request.UploadRequest.Decode(body); err != nil {
		return nil, false, err
	}
	lines := pktline.NewScanner(body)
	for lines.Scan() {
		line := string(bytes.TrimSpace(lines.Bytes()))
		var have string
		if _, err := fmt.Sscanf(line, "have %s", &have); err == nil && s.Storer.HasEncodedObject(plumbing.NewHash(have)) == nil {
			request.Haves = append(request.Haves, plumbing.NewHash(have))
		}
		done = done || line == "done"
	}
	return request, done, lines.Err()
}

// receivePack stores the objects of a push and calls push to move the branches.
func (s *Server) receivePack(w http.ResponseWriter, r *http.Request) {
	body, err := bodyOf(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	const kind = transport.ReceivePackServiceName + "-result"
	buffered := bufio.NewReader(body)
	if start, _ := buffered.Peek(len(pktline.FlushPkt) + 1); bytes.Equal(start, pktline.FlushPkt) {
		// Git asks for permission before it sends a large pack.
		answer(w, kind, func(io.Writer) error { return nil })
		return
	}
	request := packp.NewReferenceUpdateRequest()
	if err := request.Decode(buffered); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	report := packp.NewReportStatus()
	report.UnpackStatus = "ok"
	status := "ok"
	if err := s.receive(r.Context(), request); err != nil {
		status = err.Error()
	}
	for _, command := range request.Commands {
		report.CommandStatuses = append(report.CommandStatuses, &packp.CommandStatus{ReferenceName: command.Name, Status: status})
	}
	answer(w, kind, report.Encode)
}

// receive stores the objects. A push that only deletes branches has none.
func (s *Server) receive(ctx context.Context, request *packp.ReferenceUpdateRequest) error {
	commands := request.Commands
	if slices.ContainsFunc(commands, func(c *packp.Command) bool { return c.Action() != packp.Delete }) {
		if err := s.store(request.Packfile); err != nil {
			return err
		}
	}
	return s.Push(ctx, commands)
}

// store writes the objects of a pack one by one. A pack file would be stored as it
// arrives, but the pack of the git command is thin: it has deltas of objects that only
// the repository has.
func (s *Server) store(pack io.Reader) error {
	objects, err := packfile.NewParserWithStorage(packfile.NewScanner(pack), s.Storer)
	if err != nil {
		return err
	}
	_, err = objects.Parse()
	return err
}

// bodyOf opens the body, which Git compresses if it is long.
func bodyOf(r *http.Request) (io.Reader, error) {
	body := io.LimitReader(r.Body, maxPush)
	if r.Header.Get("Content-Encoding") != "gzip" {
		return body, nil
	}
	unpacked, err := gzip.NewReader(body)
	if err != nil {
		return nil, err
	}
	return io.LimitReader(unpacked, maxPush), nil
}
