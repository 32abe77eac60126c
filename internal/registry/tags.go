package registry

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
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
func (t *access) readPage(ctx context.Context, cursor string) (page, error) {
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
	case http.StatusMethodNotAllowed: // Amazon's, with UNSUPPORTED
		return slices.ContainsFunc(answer.Errors, func(d ggcr.Diagnostic) bool { return d.Code == ggcr.UnsupportedErrorCode })
	default:
		return false
	}
	return !slices.ContainsFunc(answer.Errors, func(d ggcr.Diagnostic) bool {
		return d.Code == ggcr.NameInvalidErrorCode || d.Code == ggcr.NameUnknownErrorCode
	})
}

func (t *access) askPage(ctx context.Context, cursor string, size int) (page, error) {
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
	return parsePage(resp, cursor, size)
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

func parsePage(resp *http.Response, cursor string, size int) (page, error) {
	var answer struct {
		Tags json.RawMessage `json:"tags"` // null where there are none
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return page{}, err
	}
	if answer.Tags == nil && cursor != "" {
		return page{}, fault.New(fault.Temporary, "the registry's next page has no list of tags")
	}
	tags, err := parseTags(answer.Tags)
	if err != nil {
		return page{}, err
	}
	next, err := nextCursor(strings.Join(resp.Header.Values("Link"), ", "))
	if err != nil {
		return page{}, err
	}
	return page{tags: tags, next: next, full: size > 0 && len(tags) == size}, nil
}

func parseTags(list json.RawMessage) (tags []string, err error) {
	if list != nil {
		err = json.Unmarshal(list, &tags)
	}
	return tags, err
}

// after is the cursor of what comes after a tag. Some registries cut a list at
// the size of the page and do not name the next one; asking shows it.
func after(tag string) string { return url.Values{"last": {tag}}.Encode() }

// The parts of a Link header (RFC 8288): targets with what is said of each, and
// the relation in that.
var (
	linkValues = regexp.MustCompile(`<([^>]*)>([^<]*)`)
	relation   = regexp.MustCompile(`(?i)[;\s]rel\s*=\s*"?([^";,]*)`)
)

// maxLinks is how many links of a header are looked at.
const maxLinks = 16

// nextCursor takes the query of the next page out of a Link header, as the
// distribution specification uses it. Host and path are not taken: a list is read
// where it was begun, and registries behind proxies name wrong ones. Proxies also
// add links of their own.
func nextCursor(header string) (string, error) {
	links := linkValues.FindAllStringSubmatch(header, maxLinks)
	for _, link := range links {
		if !leadsOn(link[2]) {
			continue
		}
		u, err := url.Parse(link[1])
		if err != nil || u.RawQuery == "" {
			return "", errLink
		}
		return u.RawQuery, nil
	}
	if header != "" && len(links) == 0 {
		return "", errLink
	}
	return "", nil
}

var errLink = fault.New(fault.Invalid, "the registry's link to the next page is not understood")

// leadsOn says that a link is to the next page. Some registries leave out what
// it is.
func leadsOn(parameters string) bool {
	found := relation.FindStringSubmatch(parameters)
	return found == nil || slices.Contains(strings.Fields(strings.ToLower(found[1])), "next")
}
