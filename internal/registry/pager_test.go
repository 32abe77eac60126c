package registry

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// pager serves a tag list of its own in the ways of different registries; all
// its tags lead to one image.
type pager struct {
	tags   []string
	digest string

	most      int  // larger pages are refused; zero: none are
	clamp     int  // larger pages are cut to this; zero: none are
	link      bool // names the next page
	ignoreAll bool // neither n nor last is looked at
	failAfter string
	status    int // of a failure
}

func (p *pager) serve(w http.ResponseWriter, r *http.Request) bool {
	if strings.HasSuffix(r.URL.Path, "/tags/list") {
		p.list(w, r)
		return true
	}
	before, tag, found := strings.Cut(r.URL.Path, "/manifests/")
	if found && slices.Contains(p.tags, tag) {
		r.URL.Path = before + "/manifests/" + p.digest
	}
	return false
}

func (p *pager) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	n, last := len(p.tags), query.Get("last")
	if asked, err := strconv.Atoi(query.Get("n")); err == nil {
		n = asked
	}
	if p.most > 0 && n > p.most && query.Get("n") != "" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"errors":[{"code":"PAGINATION_NUMBER_INVALID"}]}`)
		return
	}
	if p.clamp > 0 {
		n = min(n, p.clamp)
	}
	if p.failAfter != "" && last >= p.failAfter {
		w.WriteHeader(p.status)
		return
	}
	rest := p.tags
	if at, found := slices.BinarySearch(p.tags, last); last != "" {
		if found {
			at++
		}
		rest = p.tags[at:]
	}
	if p.ignoreAll {
		rest, n = p.tags, len(p.tags)
	}
	tags := rest[:min(n, len(rest))]
	if p.link && len(tags) < len(rest) && len(tags) > 0 {
		w.Header().Add("Link", fmt.Sprintf(`<http://elsewhere.example%s?last=%s&n=%d>; rel="next"`, r.URL.Path, url.QueryEscape(tags[len(tags)-1]), n))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"name": "acme/web", "tags": tags})
}

// manyTags makes 1.0.0 to 1.0.N-1 in the order of a registry.
func manyTags(n int) []string {
	tags := make([]string, n)
	for i := range tags {
		tags[i] = fmt.Sprintf("1.0.%d", i)
	}
	slices.Sort(tags)
	return tags
}
