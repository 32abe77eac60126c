package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	ggcr "github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"promoter/internal/budget"
	"promoter/internal/fault"
	"promoter/internal/image"
)

// listing is what is known of a repository's tags.
type listing struct {
	tags []string
	// incomplete is why the tags are not all; nothing is selected from them.
	incomplete string
	// complete reports that the list was read to its end.
	complete bool
	// changed is the first time for which the list was read as it is; zero: not known.
	changed time.Time
}

// progress is how far a tag list was read that is longer than one batch may read.
type progress struct {
	Tags []string `json:"tags,omitempty"` // read since the beginning
	Next string   `json:"next,omitempty"` // cursor of the next page; empty: from the beginning
	// Linked reports that the registry names its next pages.
	Linked bool `json:"linked,omitempty"`
	// Previous is the whole list as it was read last. During the next reading it
	// replaces what is not read yet; that a tag still exists is checked before it is
	// selected.
	Previous []string `json:"previous,omitempty"`
}

const (
	maxTags      = 500_000  // of one repository
	maxTagBytes  = 16 << 20 // of all tags of one repository; a tag has up to 128
	maxIdlePages = 10       // pages in a row without a new tag
	maxCursor    = 4 << 10  // bytes of a registry's query for its next page
)

func (p progress) valid() bool {
	return len(p.Next) <= maxCursor && !slices.ContainsFunc(p.Tags, invalidTag) && !slices.ContainsFunc(p.Previous, invalidTag)
}

func invalidTag(tag string) bool { return !image.ValidTag(tag) }

// tags lists the tags of a repository.
func (v *View) tags(ctx context.Context, a *access, r Request) (listing, error) {
	if known, ok := a.cache.tags(v.validity(r.AsOf)); ok {
		return known, nil
	}
	return v.batch.tags.do(ctx, flightKey{scope: a.scope}, r.AsOf, r.AsOf, func() (listing, error) {
		read, err := send(v.batch.client, a, "tags", func() (listing, error) {
			return a.readTags(ctx, v.batch.client.options.Limits.Tags)
		})
		if err != nil {
			return listing{}, err
		}
		return a.cache.setTags(read, r.keptAsOf()), nil
	})
}

// readTags reads at most limit tags and remembers where it stopped.
func (a *access) readTags(ctx context.Context, limit int) (listing, error) {
	before := a.cache.progress()
	now, err := a.readPages(ctx, before, limit)
	switch {
	case (fault.KindOf(err) == fault.RateLimited || errors.Is(err, budget.ErrExceeded)) && now.Next != "":
		a.cache.setProgress(now) // the pages that were read are not requested again
		return listing{}, err
	case err != nil:
		if before.Next != "" {
			a.cache.setProgress(progress{Previous: before.Previous}) // the cursor may have expired: start again
		}
		return listing{}, err
	case now.Next == "":
		if before.Next != "" || len(before.Previous) > 0 {
			a.cache.setProgress(progress{Previous: now.Tags})
		}
		return listing{tags: now.Tags, complete: true}, nil
	}
	a.cache.setProgress(now)
	if len(now.Previous) == 0 {
		const reason = "the repository has more tags than one reconciliation reads: %d are read, the next one continues"
		return listing{incomplete: fmt.Sprintf(reason, len(now.Tags))}, nil
	}
	all := slices.Concat(now.Previous, now.Tags)
	slices.Sort(all)
	return listing{tags: slices.Compact(all)}, nil
}

// readPages continues a reading until its end or the limit. With an error it returns
// what was read before it.
func (a *access) readPages(ctx context.Context, p progress, limit int) (progress, error) {
	p.Tags = slices.Clone(p.Tags)
	seen := make(map[string]bool, len(p.Tags))
	total := 0 // bytes
	for _, tag := range p.Tags {
		seen[tag] = true
		total += len(tag)
	}
	for read, idle := 0, 0; ; {
		got, err := a.readPage(ctx, p.Next)
		if err != nil {
			return p, err
		}
		idle++
		size := 0
		for _, tag := range got.tags {
			size += len(tag)
			if !seen[tag] && image.ValidTag(tag) {
				seen[tag] = true
				p.Tags = append(p.Tags, tag)
				total += len(tag)
				idle = 0
			}
		}
		read += len(got.tags)
		p.Linked = p.Linked || got.next != ""
		p.Next = got.next
		if got.full && !p.Linked && idle == 0 {
			// Some registries cut a list at the page size without naming the next
			// page. The next request shows it.
			p.Next = url.Values{"last": {got.tags[len(got.tags)-1]}}.Encode()
		}
		over := budget.Spend(ctx, budget.Tags, a.repository.String(), int64(size))
		switch {
		case len(p.Tags) > maxTags || total > maxTagBytes:
			return p, fault.New(fault.Invalid,
				"the repository has more than %d tags, or %d MiB of them: "+
					"delete old ones, or follow one moving tag with `select: {tag: …}`", maxTags, maxTagBytes>>20)
		case over != nil:
			return p, over
		case idle > maxIdlePages:
			return p, fault.Wrap(fault.Invalid, errCircle)
		case p.Next == "" || read >= limit:
			return p, nil
		}
	}
}

// errCircle is a registry whose pages lead back to themselves.
var errCircle = errors.New("the registry's pages lead in a circle")

// page is one response of a tag list.
type page struct {
	tags []string
	next string // query of the next page, as the registry names it; empty: none
	full bool   // as many tags as were requested
}

// readPage requests the page of a cursor, with smaller pages if the registry refuses
// the size.
func (a *access) readPage(ctx context.Context, cursor string) (page, error) {
	for {
		size := a.session.pageSize.Load()
		got, err := a.requestPage(ctx, cursor, size)
		if err == nil || !sizeRefused(err) || !a.session.shrink(size) {
			return got, err
		}
	}
}

// sizeRefused reports whether the registry may have refused the page size. Error codes
// with another meaning are excluded.
func sizeRefused(err error) bool {
	answer, ok := errors.AsType[*ggcr.Error](err)
	if !ok {
		return false
	}
	has := func(codes ...ggcr.ErrorCode) bool {
		return slices.ContainsFunc(answer.Errors, func(d ggcr.Diagnostic) bool { return slices.Contains(codes, d.Code) })
	}
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestedRangeNotSatisfiable, http.StatusUnprocessableEntity:
		return !has(ggcr.NameInvalidErrorCode, ggcr.NameUnknownErrorCode)
	case http.StatusMethodNotAllowed: // Amazon's
		return has(ggcr.UnsupportedErrorCode) && !has(ggcr.NameInvalidErrorCode, ggcr.NameUnknownErrorCode)
	}
	return false
}

func (a *access) requestPage(ctx context.Context, cursor string, size int64) (page, error) {
	connection, err := a.session.open(ctx)
	if err != nil {
		return page{}, err
	}
	query, err := pageQuery(cursor, size)
	if err != nil {
		return page{}, err
	}
	name := a.session.repository
	address := url.URL{
		Scheme: name.Scheme(), Host: name.RegistryStr(), RawQuery: query.Encode(),
		Path: "/v2/" + name.RepositoryStr() + "/tags/list",
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return page{}, err
	}
	resp, err := connection.login.client.Do(req)
	if err != nil {
		return page{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := ggcr.CheckError(resp, http.StatusOK); err != nil {
		return page{}, err
	}
	data, err := io.ReadAll(resp.Body) // which is limited, see transport
	if err != nil {
		return page{}, err
	}
	var body struct {
		Tags json.RawMessage `json:"tags"` // null if the repository has no tags
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return page{}, err
	}
	if body.Tags == nil && cursor != "" {
		return page{}, fault.New(fault.Temporary, "the registry's next page has no list of tags")
	}
	var tags []string
	if body.Tags != nil {
		err = json.Unmarshal(body.Tags, &tags)
	}
	if err != nil {
		return page{}, err
	}
	next, err := nextCursor(strings.Join(resp.Header.Values("Link"), ", "))
	if err != nil {
		return page{}, err
	}
	return page{tags: tags, next: next, full: size > 0 && int64(len(tags)) == size}, nil
}

// pageQuery sets the page size of a cursor.
func pageQuery(cursor string, size int64) (url.Values, error) {
	query, err := url.ParseQuery(cursor)
	if err != nil || len(cursor) > maxCursor {
		return nil, fault.New(fault.Invalid, "the registry names a next page that is not a query")
	}
	query.Del("n")
	if size > 0 {
		query.Set("n", strconv.FormatInt(size, 10))
	}
	return query, nil
}

// The parts of a Link header (RFC 8288): targets with their parameters, and the relation
// in those.
var (
	linkValues = regexp.MustCompile(`<([^>]*)>([^<]*)`)
	relation   = regexp.MustCompile(`(?i)[;\s]rel\s*=\s*"?([^";,]*)`)
)

// maxLinks is how many links of a header are read.
const maxLinks = 16

var errLink = fault.New(fault.Invalid, "the registry's link to the next page is not valid")

// nextCursor returns the query of the next page from a Link header. Host and path are
// ignored: a list is read where it began, and registries behind proxies name wrong
// ones. Proxies also add their own links, and some registries omit the relation.
func nextCursor(header string) (string, error) {
	links := linkValues.FindAllStringSubmatch(header, maxLinks)
	for _, link := range links {
		target, rel := link[1], relation.FindStringSubmatch(link[2])
		if rel != nil && !slices.Contains(strings.Fields(strings.ToLower(rel[1])), "next") {
			continue
		}
		u, err := url.Parse(target)
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
