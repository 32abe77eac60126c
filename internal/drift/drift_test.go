package drift_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/drift"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
)

const twoEnvironments = `version: 1
components:
  web: {image: r.example.com/web, select: {semver: ">=1"}}
  job: {image: r.example.com/job, select: {tag: stable}}
environments:
  dev: {paths: ["apps/{application}/dev"], land: push}
  prod: {paths: ["apps/{application}/prod"], after: [dev], land: push, exclude: ["old/**"]}
`

// reference is one of web 1.4.0 in dev/app.yaml:3, as "web:1.4.0 apps/shop/dev/app.yaml:3". A
// text after an @ becomes the digest.
func reference(t *testing.T, text string) edit.Reference {
	t.Helper()
	name, at, _ := strings.Cut(text, " ")
	name, digest, _ := strings.Cut(name, "@")
	if digest != "" {
		digest = "sha256:" + strings.Repeat(digest, 64)
	}
	host := "r.example.com/"
	if strings.HasPrefix(name, "redis") {
		host = ""
	}
	parsed, err := image.Parse(host + name)
	if err != nil {
		t.Fatal(err)
	}
	component, _, _ := strings.Cut(name, ":")
	return edit.Reference{Component: component, Repository: parsed.Repository, Tag: parsed.Tag, Digest: digest, Position: edit.Position{File: at, Line: 3}}
}

func TestFind(t *testing.T) {
	t.Parallel()
	const inDev, inProd = " apps/shop/dev/app.yaml", " apps/shop/prod/app.yaml"
	tests := []struct {
		name              string
		dev, prod, others []string
		want              []string
	}{
		{"the same", []string{"web:1.4.0" + inDev}, []string{"web:1.4.0" + inProd}, nil, nil},
		{"behind is a promotion", []string{"web:1.5.0" + inDev}, []string{"web:1.4.0" + inProd}, nil, nil},
		{
			"ahead",
			[]string{"web:1.4.0" + inDev},
			[]string{"web:1.5.0" + inProd},
			nil,
			[]string{"ahead prod/shop: web 1.5.0 is newer than 1.4.0 in dev (apps/shop/prod/app.yaml:3)"},
		},
		{
			"another image under the same tag",
			[]string{"web:1.4.0@a" + inDev},
			[]string{"web:1.4.0@b" + inProd},
			nil,
			[]string{"digest prod/shop: web 1.4.0 is another image than in dev: sha256:bbbbbbbbbbbb instead of sha256:aaaaaaaaaaaa (apps/shop/prod/app.yaml:3)"},
		},
		{"a moving tag has other images by design", []string{"job:stable@a" + inDev}, []string{"job:stable@b" + inProd}, nil, nil},
		{
			"several versions",
			[]string{"web:1.4.0" + inDev, "web:1.5.0" + inDev},
			[]string{"web:1.4.0" + inProd},
			nil,
			[]string{"several dev/shop: several versions of web: 1.4.0, 1.5.0 (apps/shop/dev/app.yaml:3)"},
		},
		{
			"a component that prod lacks",
			[]string{"web:1.4.0" + inDev, "job:stable@a" + inDev},
			[]string{"web:1.4.0" + inProd},
			nil,
			[]string{"missing prod/shop: dev references job, and no file here does (apps/shop/dev/app.yaml:3)"},
		},
		{
			"an image that no component follows", nil, nil,
			[]string{"redis:7.2" + inDev, "redis:7.0" + inProd, "redis:6 apps/blog/prod/app.yaml"},
			[]string{"unfollowed prod/shop: no component follows redis: dev has 7.2 (apps/shop/dev/app.yaml:3), and prod has 7.0 (apps/shop/prod/app.yaml:3)"},
		},
		{"the same one", nil, nil, []string{"redis:7.2" + inDev, "redis:7.2" + inProd}, nil},
		{
			"a shared file", nil, nil,
			[]string{"web:1.4.0 base/app.yaml", "redis:7.2 base/app.yaml", "web:1.4.0 old/app.yaml", "web:1.4.0 .github/a.yaml"},
			[]string{"shared /: web 1.4.0 is outside of the paths of all environments: a change there reaches all of them that use it at once (base/app.yaml:3)"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			loaded, problems := config.Load(config.FileName, []byte(twoEnvironments))
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			o := drift.Observed{
				Promotion: promotion.Observation{Config: loaded, DefaultBranch: "main", Targets: map[promotion.Target]promotion.Current{}},
				Others:    map[string][]edit.Reference{},
			}
			for environment, texts := range map[string][]string{"dev": test.dev, "prod": test.prod} {
				var current promotion.Current
				for _, text := range texts {
					current.References = append(current.References, reference(t, text))
				}
				o.Promotion.Targets[promotion.Target{Environment: environment, Application: "shop"}] = current
			}
			for _, text := range test.others {
				other := reference(t, text)
				other.Component = ""
				o.Others["main"] = append(o.Others["main"], other)
			}
			o.Promotion.Policies = promotion.Policies(loaded, promotion.FollowedIn(loaded, o.Promotion.Selected(), promotion.Everywhere))
			var got []string
			for _, d := range drift.Find(o) {
				got = append(got, string(d.Kind)+" "+d.Environment+"/"+d.Application+": "+d.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A tag and a digest are one version if the tag landed with the digest, or has it.
func TestFind_comparesVersionsByDigest(t *testing.T) {
	t.Parallel()
	loaded, problems := config.Load(config.FileName, []byte(twoEnvironments))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	const file = " apps/shop/dev/app.yaml"
	byTag, byDigest := reference(t, "web:1.4.0"+file), reference(t, "web:1.4.0@a"+file)
	byDigest.Tag = ""
	for digest, want := range map[string]int{byDigest.Digest: 0, reference(t, "web:1.4.0@b"+file).Digest: 1, "": 1} {
		at := promotion.Target{Environment: "dev", Application: "shop"}
		o := drift.Observed{Promotion: promotion.Observation{
			Config: loaded, DefaultBranch: "main",
			Targets: map[promotion.Target]promotion.Current{at: {References: []edit.Reference{byTag, byDigest}}},
			Facts:   promotion.Facts{{Repository: byTag.Repository, Tag: "1.4.0"}: {Digest: digest}},
		}}
		if found := drift.Find(o); len(found) != want {
			t.Errorf("the tag has the digest %q: %v", digest, found)
		}
	}
}

// A tag with the digest of another version is found, and what is of another line of versions is not
// missing.
func TestFind_labelsAndLines(t *testing.T) {
	t.Parallel()
	loaded, problems := config.Load(config.FileName, []byte(twoEnvironments))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	labeled := reference(t, "web:1.4.0@a apps/shop/dev/app.yaml")
	foreign := reference(t, "web:edge apps/shop/prod/app.yaml")
	o := drift.Observed{Promotion: promotion.Observation{
		Config: loaded, DefaultBranch: "main",
		Targets: map[promotion.Target]promotion.Current{
			{Environment: "dev", Application: "shop"}:  {References: []edit.Reference{labeled}},
			{Environment: "prod", Application: "shop"}: {Foreign: []edit.Foreign{{Reference: foreign}}},
		},
	}}
	o.Promotion.Policies = promotion.Policies(loaded, promotion.FollowedIn(loaded, o.Promotion.Selected(), promotion.Everywhere))
	for tag, want := range map[string]string{
		"1.5.0": "web 1.4.0 has the digest of 1.5.0 (apps/shop/dev/app.yaml:3)", "1.4.0": "", "1.4": "",
	} {
		available := image.Version{Tag: tag, Digest: labeled.Digest}
		o.Promotion.Available = map[string]promotion.Available{"web": {Found: true, Version: available}}
		got := ""
		for _, d := range drift.Find(o) {
			got += d.String()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", tag, got, want)
		}
	}
}

func TestFind_mentions(t *testing.T) {
	t.Parallel()
	loaded, problems := config.Load(config.FileName, []byte(twoEnvironments))
	if loaded == nil {
		t.Fatal(problems)
	}
	mention := func(file string, prose bool) edit.Mention {
		return edit.Mention{Component: "web", Position: edit.Position{File: file, Line: 2, Column: 5}, Text: "r.example.com/web:1.4.0", Prose: prose}
	}
	listed := []edit.Mention{mention("apps/shop/dev/run.sh", false), mention("apps/shop/dev/README.md", true)}
	observation := promotion.Observation{Config: loaded, Targets: map[promotion.Target]promotion.Current{
		{Environment: "dev", Application: "shop"}: {Mentions: edit.Mentions{Listed: listed, More: 7}},
	}}
	var got []string
	for _, d := range drift.Find(drift.Observed{Promotion: observation}) {
		got = append(got, string(d.Kind)+" "+d.Application+": "+d.String())
	}
	want := []string{
		"mention shop: web is named as r.example.com/web:1.4.0 in a form that promoter does not edit (apps/shop/dev/run.sh:2)",
		"mention shop: 7 more texts name followed images",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
}
