package image

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// policyRow is a row of the test tables of Flux and Kargo.
type policyRow struct {
	Case   string `json:"case"`
	Policy string `json:"policy"`
	Params struct {
		Range   string   `json:"range"`
		Order   string   `json:"order"`
		Pattern string   `json:"pattern"`
		Extract string   `json:"extract"`
		Allow   []string `json:"allowTagsRegexes"`
		Ignore  []string `json:"ignoreTagsRegexes"`
		Strict  bool     `json:"strictSemvers"`
	} `json:"params"`
	Tags        []string         `json:"tags"`
	Created     map[string]int64 `json:"created"`
	Expect      json.RawMessage  `json:"expect"`
	ExpectError bool             `json:"expect_error"`
	ParamsOnly  bool             `json:"validate_params_only"`
}

func expected[T any](t *testing.T, row policyRow) (value T) {
	t.Helper()
	if err := json.Unmarshal(row.Expect, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestCorpus_fluxPolicies(t *testing.T) {
	t.Parallel()
	var rows []policyRow
	readCorpus(t, "flux-policies.json", &rows)
	for _, row := range rows {
		t.Run(row.Policy+" "+row.Case, func(t *testing.T) {
			t.Parallel()
			checkFluxPolicy(t, row)
		})
	}
}

// checkFluxPolicy compares the best tag. Intended differences: there is no
// descending order here, because the older version is never the one to select,
// so rows about the name of the order are skipped, and rows with desc must give
// another tag than the expected one, or the only one. Tags that begin with a
// dash are invalid and skipped.
func checkFluxPolicy(t *testing.T, row policyRow) {
	selection := Selection{Semver: row.Params.Range}
	switch row.Policy {
	case "numerical":
		selection = Selection{Numeric: ".*"}
	case "alphabetical":
		selection = Selection{Alphabetical: ".*"}
	}
	policy, err := NewPolicy(selection)
	if row.ParamsOnly {
		if row.Policy == "semver" && (err != nil) != row.ExpectError {
			t.Errorf("range %q: %v", row.Params.Range, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	ordered := tagsOf(policy.Candidates(row.Tags))
	if row.ExpectError {
		// Flux fails if one tag is not a number; here the others still count.
		if len(ordered) > 0 && row.Case != "With invalid numerical value" {
			t.Errorf("got %q", ordered)
		}
		return
	}
	want, descending := expected[string](t, row), row.Params.Order == "desc"
	if got := len(ordered) > 0 && ordered[0] == want; got == (descending && len(row.Tags) > 1) {
		t.Errorf("got %q, want %q", ordered, want)
	}
}

// TestCorpus_fluxFilters compares the texts that a filter extracts. Flux names
// the group in a template; here it is always called version. Flux keeps one tag
// for each text; here all tags are kept and the tie is broken.
func TestCorpus_fluxFilters(t *testing.T) {
	t.Parallel()
	var rows []policyRow
	readCorpus(t, "flux-filter-tags.json", &rows)
	for _, row := range rows {
		t.Run(row.Case, func(t *testing.T) {
			t.Parallel()
			pattern := strings.Replace(row.Params.Pattern, "P<tag>", "P<version>", 1)
			if row.Params.Extract == "$1" {
				pattern = strings.Replace(pattern, "(", "(?P<version>", 1)
			}
			if pattern == "" {
				pattern = ".*" // an empty filter means no filter
			}
			var got []string
			for _, candidate := range mustPolicy(t, Selection{Alphabetical: pattern}).Candidates(row.Tags).Ordered {
				got = append(got, candidate.Version)
			}
			slices.Sort(got)
			got = slices.Compact(got)
			if diff := cmp.Diff(expected[[]string](t, row), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCorpus_kargo(t *testing.T) {
	t.Parallel()
	var rows []policyRow
	readCorpus(t, "kargo-selectors.json", &rows)
	for _, row := range rows {
		t.Run(row.Policy+" "+row.Case, func(t *testing.T) {
			t.Parallel()
			checkKargo(t, row)
		})
	}
}

// checkKargo compares the selected versions. Intended difference: v1.0 is a
// version here, but Kargo's strict mode ignores it.
func checkKargo(t *testing.T, row policyRow) {
	allow := strings.Join(row.Params.Allow, "|")
	selection := Selection{Semver: "*", Filter: allow, Exclude: row.Params.Ignore}
	if row.Policy == "match" || row.Policy == "filter" {
		selection = Selection{Alphabetical: ".*" + allow, Exclude: row.Params.Ignore}
	}
	policy := mustPolicy(t, selection)
	got := tagsOf(policy.Candidates(row.Tags))
	switch row.Policy {
	case "match", "match-semver":
		if want := expected[bool](t, row) || row.Params.Strict; (len(got) == 1) != want {
			t.Errorf("got %q, want %v", got, want)
		}
	case "filter", "sort-semver-desc":
		if diff := cmp.Diff(expected[[]string](t, row), got); diff != "" {
			t.Error(diff)
		}
	case "sort-newest-build-desc":
		if diff := cmp.Diff(expected[[]string](t, row), sortByCreated(row)); diff != "" {
			t.Error(diff)
		}
	default:
		t.Errorf("no check for %s", row.Policy)
	}
}

// sortByCreated sorts the tags as the caller of a newest policy does.
func sortByCreated(row policyRow) []string {
	policy := &Policy{strategy: byNewest}
	version := func(tag string) Version {
		return Version{Tag: tag, Created: time.Date(2026, 1, 1, 0, 0, int(row.Created[tag]), 0, time.UTC)}
	}
	tags := slices.Clone(row.Tags)
	slices.SortFunc(tags, func(a, b string) int {
		order, _ := policy.Compare(version(b), version(a))
		return order
	})
	return tags
}
