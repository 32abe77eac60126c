package demo

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/server"
)

// gitServer serves one bare repository over smart HTTP with the library's
// server support: full clones only, which is enough for small repositories.
//
// https://git-scm.com/docs/http-protocol
type gitServer struct {
	storer storer.Storer
	// bring is called before the branches are advertised.
	bring func(context.Context) error
	// push moves branches after their objects have arrived.
	push func(context.Context, []*packp.Command) error
}

// maxPush limits a client's request, in bytes.
const maxPush = 16 << 20

func (g *gitServer) infoRefs(w http.ResponseWriter, r *http.Request) {
	service := r.URL.Query().Get("service")
	session, err := g.session(service)
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if err := g.bring(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	refs, err := session.AdvertisedReferencesContext(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	refs.Prefix = [][]byte{[]byte("# service=" + service), pktline.Flush}
	answer(w, service+"-advertisement", refs.Encode)
}

// session starts a session of the library, which advertises the branches.
func (g *gitServer) session(service string) (transport.Session, error) {
	switch service {
	case transport.UploadPackServiceName:
		return g.library().NewUploadPackSession(only(), nil)
	case transport.ReceivePackServiceName:
		return g.library().NewReceivePackSession(only(), nil)
	default:
		return nil, fmt.Errorf("%.30q is no service of Git that is served here", service)
	}
}

func (g *gitServer) library() transport.Transport {
	return server.NewServer(server.MapLoader{only().String(): g.storer})
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

// uploadPack sends the objects that a client lacks.
func (g *gitServer) uploadPack(w http.ResponseWriter, r *http.Request) {
	request, done, err := g.readUpload(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	const kind = transport.UploadPackServiceName + "-result"
	if !done { // negotiation: nothing in common until the client sends done
		answer(w, kind, func(out io.Writer) error { return (&packp.ServerResponse{}).Encode(out, false) })
		return
	}
	pack, err := g.pack(r.Context(), request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer(w, kind, pack.Encode)
}

func (g *gitServer) pack(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	session, err := g.library().NewUploadPackSession(only(), nil)
	if err != nil {
		return nil, err
	}
	return session.UploadPack(ctx, request)
}

// readUpload reads the wants and haves of a client, and whether the client is
// done.
func (g *gitServer) readUpload(r *http.Request) (request *packp.UploadPackRequest, done bool, err error) {
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
		if _, err := fmt.Sscanf(line, "have %s", &have); err == nil && g.storer.HasEncodedObject(plumbing.NewHash(have)) == nil {
			request.Haves = append(request.Haves, plumbing.NewHash(have))
		}
		done = done || line == "done"
	}
	return request, done, lines.Err()
}

// receivePack stores the objects of a push and calls push to move the branches.
func (g *gitServer) receivePack(w http.ResponseWriter, r *http.Request) {
	body, err := bodyOf(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request := packp.NewReferenceUpdateRequest()
	if err := request.Decode(body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	report := packp.NewReportStatus()
	report.UnpackStatus = "ok"
	said := "ok"
	if err := g.receive(r.Context(), request); err != nil {
		said = err.Error()
	}
	for _, command := range request.Commands {
		report.CommandStatuses = append(report.CommandStatuses, &packp.CommandStatus{ReferenceName: command.Name, Status: said})
	}
	answer(w, transport.ReceivePackServiceName+"-result", report.Encode)
}

// receive stores the objects. A push that only deletes branches has none.
func (g *gitServer) receive(ctx context.Context, request *packp.ReferenceUpdateRequest) error {
	commands := request.Commands
	if slices.ContainsFunc(commands, func(c *packp.Command) bool { return c.Action() != packp.Delete }) {
		if err := packfile.UpdateObjectStorage(g.storer, request.Packfile); err != nil {
			return err
		}
	}
	return g.push(ctx, commands)
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
