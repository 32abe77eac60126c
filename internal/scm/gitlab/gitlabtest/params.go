package gitlabtest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"promoter/internal/scm/forgetest"
)

// paging lists the parameters of every list.
var paging = []string{"page", "per_page"}

// read parses the parameters: of a GET from its query, else from a JSON body. An
// unknown parameter fails the test, and so does an invalid body.
func (c *call) read(known []string) *reply {
	c.params = object{}
	for name, values := range c.r.URL.Query() {
		if strings.HasSuffix(name, "[]") {
			c.params[name] = values
			continue
		}
		c.params[name] = values[0]
	}
	if c.r.Method != http.MethodGet && len(c.body) > 0 {
		if c.s.hub.Front.Read(c.route, c.body, &c.params) != nil {
			return answer(http.StatusBadRequest, object{"error": "The provided content is not JSON"})
		}
	}
	for name := range c.params {
		if !slices.Contains(known, name) {
			c.s.t.Errorf("gitlabtest: %s: there is no parameter %s", c.route, name)
		}
	}
	return nil
}

// has reports whether a parameter is present.
func (c *call) has(name string) bool { _, given := c.params[name]; return given }

// text returns a parameter, empty if absent.
func (c *call) text(name string) string {
	switch value := c.params[name].(type) {
	case nil:
		return ""
	case string:
		return value
	case bool:
		return strconv.FormatBool(value)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	default:
		c.s.t.Errorf("gitlabtest: %s: %s is %v", c.route, name, value)
		return ""
	}
}

// number returns a parameter, zero if absent.
func (c *call) number(name string) int {
	if c.text(name) == "" {
		return 0
	}
	n, err := strconv.Atoi(c.text(name))
	if err != nil {
		c.s.t.Errorf("gitlabtest: %s: %s: %v", c.route, name, err)
	}
	return n
}

// numbers returns a list parameter.
func (c *call) numbers(name string) []int {
	list, _ := c.params[name].([]any)
	var all []int
	for _, one := range list {
		n, _ := one.(float64)
		all = append(all, int(n))
	}
	return all
}

// names returns a comma-separated list parameter.
func (c *call) names(name string) []string {
	var all []string
	for one := range strings.SplitSeq(c.text(name), ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// list returns one page of the elements, converted by draw. More than 10,000 are not
// counted.
// https://docs.gitlab.com/api/rest/#offset-based-pagination
func list[T any](c *call, all []T, draw func(*call, T) object) *reply {
	at := forgetest.PageOf(c.text("page"), c.text("per_page"), 20, 100)
	drawn := []object{}
	for _, one := range forgetest.Cut(at, all) {
		drawn = append(drawn, draw(c, one))
	}
	told := ok(drawn)
	told.Header.Set("X-Page", itoa(at.Number))
	told.Header.Set("X-Per-Page", itoa(at.Size))
	told.Header.Set("X-Next-Page", "")
	if at.Number < at.Last(len(all)) {
		told.Header.Set("X-Next-Page", itoa(at.Number+1))
	}
	if len(all) <= 10_000 {
		told.Header.Set("X-Total", itoa(len(all)))
		told.Header.Set("X-Total-Pages", itoa(at.Last(len(all))))
	}
	return told
}
