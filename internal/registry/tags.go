package registry

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	ggcr "github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"promoter/internal/fault"
)

// page is one answer of a tag list.
type page struct {
	tags []string
	next string // query of the next page, as the registry names it; empty: none
	full bool   // as many tags as were asked for
}

// maxCursor bounds the query that a registry gives for its next page.
const maxCursor = 4 << 10

// readPage asks for the page that cursor names, in smaller pages when the
// registry refuses the size.
func (t *target) readPage(ctx context.Context, cursor string) (page, error) {
	for {
		size := t.session.size()
		got, err := t.askPage(ctx, cursor, size)
		if err == nil {
			return got, nil
		}
		if !sizeRefused(err) || !t.session.shrink(size) {
			return page{}, err
		}
	}
}

// sizeRefused says that the registry may not like the size of the page. The
// codes that speak of something else are left out.
func sizeRefused(err error) bool {
	answer, ok := errors.AsType[*ggcr.Error](err)
	if !ok {
		return false
	}
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestedRangeNotSatisfiable, http.StatusUnprocessableEntity:
	default:
		return false
	}
	return !slices.ContainsFunc(answer.Errors, func(d ggcr.Diagnostic) bool {
		return d.Code == ggcr.NameInvalidErrorCode || d.Code == ggcr.NameUnknownErrorCode
	})
}

func (t *target) askPage(ctx context.Context, cursor string, size int) (page, error) {
	login, err := t.session.open(ctx)
	if err != nil {
		return page{}, err
	}
	query, err := pageQuery(cursor, size)
	if err != nil {
		return page{}, err
	}
	name := t.session.repository
	at := url.URL{
		Scheme: name.Scheme(), Host: name.RegistryStr(), RawQuery: query.Encode(),
		Path: "/v2/" + name.RepositoryStr() + "/tags/list",
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return page{}, err
	}
	resp, err := login.client.Do(req)
	if err != nil {
		return page{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := ggcr.CheckError(resp, http.StatusOK); err != nil {
		return page{}, err
	}
	return parsePage(resp, size)
}

// pageQuery puts the present size into a cursor.
func pageQuery(cursor string, size int) (url.Values, error) {
	query, err := url.ParseQuery(cursor)
	if err != nil || len(cursor) > maxCursor {
		return nil, fault.New(fault.Invalid, "the registry names a next page that is no query")
	}
	query.Del("n")
	if size > 0 {
		query.Set("n", strconv.Itoa(size))
	}
	return query, nil
}

func parsePage(resp *http.Response, size int) (page, error) {
	var answer struct {
		Tags []string `json:"tags"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return page{}, err
	}
	next, err := nextCursor(resp.Header.Get("Link"))
	if err != nil {
		return page{}, err
	}
	return page{tags: answer.Tags, next: next, full: size > 0 && len(answer.Tags) == size}, nil
}

// after is the cursor of what comes after a tag. Some registries cut a list at
// the size of the page and do not name the next one; asking shows it.
func after(tag string) string { return url.Values{"last": {tag}}.Encode() }

// nextCursor takes the query out of a Link header (RFC 8288, as the distribution
// specification uses it). Host and path are not taken: a list is read where it
// was begun, and registries behind proxies name wrong ones.
func nextCursor(link string) (string, error) {
	if link == "" {
		return "", nil
	}
	target, rest, closed := strings.Cut(strings.TrimPrefix(strings.TrimSpace(link), "<"), ">")
	if !closed || !strings.Contains(link, "<") {
		return "", fault.New(fault.Invalid, "the registry's link to the next page is not understood")
	}
	if strings.Contains(rest, "rel=") && !strings.Contains(rest, "next") {
		return "", nil
	}
	u, err := url.Parse(target)
	if err != nil || u.RawQuery == "" {
		return "", fault.New(fault.Invalid, "the registry's link to the next page is not understood")
	}
	return u.RawQuery, nil
}
