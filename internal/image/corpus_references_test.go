package image

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// expression is a text, or one of the few Go expressions that generate long
// ones.
type expression string

func (e *expression) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, (*string)(e)); err == nil {
		return nil
	}
	var coded struct {
		Go string `json:"$expr"`
	}
	if err := json.Unmarshal(data, &coded); err != nil {
		return err
	}
	known := map[string]string{
		`"domain/" + strings.Repeat("a", 256) + ":tag"`:      "domain/" + strings.Repeat("a", 256) + ":tag",
		`"example.com/" + strings.Repeat("a", 255) + ":tag"`: "example.com/" + strings.Repeat("a", 255) + ":tag",
		`"example.com/" + strings.Repeat("a", 255)`:          "example.com/" + strings.Repeat("a", 255),
		`strings.Repeat("a/", 128) + "a:tag"`:                strings.Repeat("a/", 128) + "a:tag",
		`strings.Repeat("a/", 128) + "a"`:                    strings.Repeat("a/", 128) + "a",
		`strings.Repeat("a/", 127) + "a"`:                    strings.Repeat("a/", 127) + "a",
	}
	text, ok := known[coded.Go]
	if !ok {
		return &json.UnsupportedValueError{Str: coded.Go}
	}
	*e = expression(text)
	return nil
}

// referenceRow is a row of the distribution project's test tables. Each of its
// tests has its own columns.
type referenceRow struct {
	Source     string          `json:"source"`
	Input      json.RawMessage `json:"input"`
	Valid      bool            `json:"valid"`
	Domain     string          `json:"domain"`
	Path       string          `json:"path"`
	Repository expression      `json:"repository"`
	Tag        string          `json:"tag"`
	Digest     string          `json:"digest"`
	Full       string          `json:"full"`
	Familiar   string          `json:"familiar"`
	Subs       []expression    `json:"subs"`
	Pattern    string          `json:"pattern"`
	Expect     json.RawMessage `json:"expect"`
}

func (row referenceRow) text(t *testing.T) string {
	t.Helper()
	var text expression
	if err := json.Unmarshal(row.Input, &text); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCorpus_references(t *testing.T) {
	t.Parallel()
	var rows []referenceRow
	readCorpus(t, "references-distribution.json", &rows)
	checks := map[string]func(*testing.T, referenceRow){
		"TestReferenceParse":        checkStrict,
		"TestReferenceRegexp":       checkReferenceRegexp,
		"TestFullNameRegexp":        checkFullName,
		"TestDomainRegexp":          checkDomain,
		"TestValidateReferenceName": checkNormalized,
		"TestValidateRemoteName":    checkNormalized,
		"TestParseRepositoryInfo":   checkNormalized,
		"TestParseAnyReference":     checkAny,
		"TestParseDockerRef":        checkDockerRef,
		"TestParseNamed":            checkCanonical,
		"TestWithTag":               checkComposed,
		"TestMatch":                 checkGlob,
	}
	for _, row := range rows {
		name := row.Source[strings.LastIndexByte(row.Source, ' ')+1:]
		check, ok := checks[name]
		if !ok {
			t.Errorf("no check for %s", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, row)
		})
	}
}

// parsed checks validity and reports whether there is more to check.
func parsed(t *testing.T, row referenceRow) (Reference, bool) {
	t.Helper()
	text := row.text(t)
	r, err := Parse(text)
	if (err == nil) != row.Valid {
		t.Errorf("Parse(%.60q) = %v", text, err)
	}
	if err == nil && r.String() != text {
		t.Errorf("%q became %q", text, r)
	}
	return r, err == nil
}

// checkStrict reads grammar rows without Docker Hub. There, the first component
// is always a domain; here it is one only under Docker's rule, so it is
// compared only if that rule applies.
func checkStrict(t *testing.T, row referenceRow) {
	r, ok := parsed(t, row)
	if !ok {
		return
	}
	if r.Name != string(row.Repository) || r.Tag != row.Tag || r.Digest != row.Digest {
		t.Errorf("got %+v", r)
	}
	if namesHost(row.Domain) && r.Repository.Host() != row.Domain {
		t.Errorf("host %s, want %s", r.Repository.Host(), row.Domain)
	}
}

func checkReferenceRegexp(t *testing.T, row referenceRow) {
	r, ok := parsed(t, row)
	if ok && (r.Name != string(row.Subs[0]) || r.Tag != string(row.Subs[1]) || r.Digest != string(row.Subs[2])) {
		t.Errorf("got %+v, want %q", r, row.Subs)
	}
}

// checkFullName reads rows with names only. Intended difference: the regular
// expression has no length limit, so its longest row has a path that is within
// our limit only because the original counts the first component as domain.
func checkFullName(t *testing.T, row referenceRow) {
	text := row.text(t)
	r, err := ParseRepository(text)
	if len(text) > maxPath {
		if err == nil {
			t.Errorf("%d bytes were read", len(text))
		}
		return
	}
	if (err == nil) != row.Valid {
		t.Fatalf("ParseRepository(%q) = %v", text, err)
	}
	if err != nil || row.Subs == nil {
		return
	}
	if domain, path := string(row.Subs[0]), string(row.Subs[1]); namesHost(domain) && (r.Host() != domain || r.Path() != path) {
		t.Errorf("got %s, want %q", r, row.Subs)
	}
}

func checkDomain(t *testing.T, row referenceRow) {
	if text := row.text(t); validHost(text) != row.Valid {
		t.Errorf("validHost(%q) = %v", text, !row.Valid)
	}
}

// checkNormalized reads rows with Docker Hub's rules. There are no intended
// differences.
func checkNormalized(t *testing.T, row referenceRow) {
	r, ok := parsed(t, row)
	if !ok || row.Full == "" {
		return
	}
	got := []string{r.Repository.Host(), r.Repository.Path(), r.Repository.String(), r.Repository.Familiar()}
	if diff := cmp.Diff([]string{row.Domain, row.Path, row.Full, row.Familiar}, got); diff != "" {
		t.Error(diff)
	}
}

// normalized returns the form in which the distribution project prints a
// reference.
func normalized(r Reference) string {
	r.Name = r.Repository.String()
	return r.String()
}

// checkAny reads rows in which a bare digest or ID is also a reference.
// Intended difference: in a file neither names an image, so both are rejected.
func checkAny(t *testing.T, row referenceRow) {
	if strings.HasPrefix(row.Full, "sha256:") {
		row.Valid = false
	}
	if r, ok := parsed(t, row); ok && normalized(r) != row.Full {
		t.Errorf("got %s, want %s", normalized(r), row.Full)
	}
}

// checkDockerRef reads rows that name what Docker would pull. Intended
// differences: latest is never implied, and a tag next to a digest is kept,
// because the file contains it.
func checkDockerRef(t *testing.T, row referenceRow) {
	r, ok := parsed(t, row)
	if !ok {
		return
	}
	switch {
	case r.Digest != "":
		r.Tag = ""
	case r.Tag == "":
		r.Tag = "latest"
	}
	if normalized(r) != row.Full {
		t.Errorf("got %s, want %s", normalized(r), row.Full)
	}
}

// checkCanonical reads rows that are valid only in the normalized form.
// Intended difference: every form is accepted and normalized here, so a row is
// valid if normalization changes nothing.
func checkCanonical(t *testing.T, row referenceRow) {
	text := row.text(t)
	r := mustRepository(t, text)
	if got := r.String() == text; got != row.Valid {
		t.Errorf("%s became %s", text, r)
	}
	if row.Valid && (r.Host() != row.Domain || r.Path() != row.Path) {
		t.Errorf("got %s, want %s/%s", r, row.Domain, row.Path)
	}
}

func checkComposed(t *testing.T, row referenceRow) {
	var r Reference
	if err := json.Unmarshal(row.Input, &r); err != nil {
		t.Fatal(err)
	}
	var want string
	if err := json.Unmarshal(row.Expect, &want); err != nil {
		t.Fatal(err)
	}
	if r.String() != want {
		t.Errorf("got %s, want %s", r, want)
	}
}

// checkGlob reads rows of path.Match over the familiar form with its tag.
// Intended differences: our patterns have no tag and no [classes], and a
// leading * alone could be a host or a namespace. All these are rejected,
// except for one row that both accept.
func checkGlob(t *testing.T, row referenceRow) {
	pattern, err := ParsePattern(row.Pattern)
	if strings.ContainsAny(row.Pattern, "[:") || strings.HasPrefix(row.Pattern, "*/") {
		if err == nil {
			t.Errorf("%s was read", row.Pattern)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	r, ok := parsed(t, referenceRow{Input: row.Input, Valid: true})
	if want := string(row.Expect) == "true"; !ok || pattern.Match(r.Repository) != want {
		t.Errorf("%s and %s: want %v", pattern, r, want)
	}
}
