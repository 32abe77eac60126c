package scan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines is a config with two environments, of which the second follows the first.
const lines = `version: 1
components:
  db: {image: quay.io/acme/db, select: {semver: "^16"}}
environments:
  dev: {paths: [dev]}
  prod: {paths: [prod], after: [dev]}
`

// A reference of another line of versions stays, in every environment, and it is known why.
func TestFiles_keepsOtherLines(t *testing.T) {
	t.Parallel()
	found := tree(t, lines, map[string]string{
		"dev/new.yaml":  "image: quay.io/acme/db:16.4\n",
		"dev/old.yaml":  "image: quay.io/acme/db:15.8\n",
		"prod/all.yaml": "a: {image: quay.io/acme/db:16.3}\nb: {image: quay.io/acme/db:15.8}\nc: {image: quay.io/acme/db:edge}\n",
	})
	for environment, want := range map[string][]string{"dev": {"db=16.4"}, "prod": {"db=16.3"}} {
		if diff := cmp.Diff(want, references(found, at(environment))); diff != "" {
			t.Errorf("%s: references (-want +got):\n%s", environment, diff)
		}
	}
	var stay []string
	for _, f := range found.Targets[at("prod")].Foreign {
		stay = append(stay, f.String())
	}
	want := []string{
		"prod/all.yaml:2:12: 15.8 is not a version of db (^16): it is below the range, and 16.3 is within",
		"prod/all.yaml:3:12: edge is not a version of db (^16): it is no version",
	}
	if diff := cmp.Diff(want, stay); diff != "" {
		t.Errorf("other lines (-want +got):\n%s", diff)
	}
	wantFiles := map[string]string{
		"prod/all.yaml": "a: {image: quay.io/acme/db:16.5}\nb: {image: quay.io/acme/db:15.8}\nc: {image: quay.io/acme/db:edge}\n",
	}
	if diff := cmp.Diff(wantFiles, move(t, found, at("prod"), "db", "16.5")); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
}

// A raised range moves the files, as long as none is in it.
func TestFiles_raisedRangeIsTheSameLine(t *testing.T) {
	t.Parallel()
	found := tree(t, lines, map[string]string{"dev/a.yaml": "image: quay.io/acme/db:15.8\n", "prod/a.yaml": "image: quay.io/acme/db:16.4\n"})
	if diff := cmp.Diff([]string{"db=15.8"}, references(found, at("dev"))); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
}

// What a user marks is of the component, whatever it has.
func TestFiles_markedIsOfTheLine(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a found reference": "image: quay.io/acme/db:edge # promoter: db\n",
		"a bare tag":        "version: \"edge\" # promoter: db.tag\n",
	} {
		found := tree(t, lines, map[string]string{"dev/a.yaml": text})
		if diff := cmp.Diff([]string{"db=edge"}, references(found, at("dev"))); diff != "" {
			t.Errorf("%s: references (-want +got):\n%s", name, diff)
		}
		want := map[string]string{"dev/a.yaml": strings.Replace(text, "edge", "16.5", 1)}
		if diff := cmp.Diff(want, move(t, found, at("dev"), "db", "16.5")); diff != "" {
			t.Errorf("%s: moved (-want +got):\n%s", name, diff)
		}
	}
}

// Two components may follow one repository, each with its line of versions.
func TestFiles_componentsOfOneRepository(t *testing.T) {
	t.Parallel()
	const config = `version: 1
components:
  old: {image: quay.io/acme/db, select: {semver: "^15"}}
  new: {image: quay.io/acme/db, select: {semver: "^16"}}
  edge: {image: quay.io/acme/db, select: {tag: edge}}
environments:
  dev: {}
`
	files := map[string]string{"a.yaml": "a: {image: quay.io/acme/db:16.3}\nb: {image: quay.io/acme/db:15.8}\nc: {image: quay.io/acme/db:edge}\n" +
		"d: {image: quay.io/acme/db:17.0}\ne: {image: quay.io/acme/db:14.1}\nf: {image: quay.io/acme/db:15.7} # promoter: new\n"}
	found := tree(t, config, files)
	if diff := cmp.Diff([]string{"edge=edge", "new=15.7", "new=16.3", "old=15.8"}, references(found, at("dev"))); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	var stay []string
	for _, f := range found.Targets[at("dev")].Foreign {
		stay = append(stay, f.Component+"="+f.Tag)
	}
	slices.Sort(stay)
	if diff := cmp.Diff([]string{"old=14.1", "old=17.0"}, stay); diff != "" {
		t.Errorf("other lines (-want +got):\n%s", diff)
	}
	want := map[string]string{"a.yaml": strings.Replace(files["a.yaml"], "15.8", "15.9", 1)}
	if diff := cmp.Diff(want, move(t, found, at("dev"), "old", "15.9")); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
}

// A tag that two components select is refused with both.
func TestFiles_refusesWhatTwoComponentsSelect(t *testing.T) {
	t.Parallel()
	found := tree(t, `version: 1
components:
  main: {image: quay.io/acme/db, select: {newest: '^(main|fix)-'}}
  fix: {image: quay.io/acme/db, select: {newest: '^(fix|hot)-'}}
environments:
  dev: {}
`, map[string]string{"a.yaml": "image: quay.io/acme/db:fix-1\n", "b.yaml": "image: quay.io/acme/db:main-1\n"})
	refusals := found.Targets[at("dev")].Refusals
	if len(refusals) != 1 || refusals[0].File != "a.yaml" || !strings.Contains(refusals[0].Reason, "both main and fix select fix-1") {
		t.Errorf("refusals: %v", refusals)
	}
}
