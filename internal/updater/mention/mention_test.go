package mention

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/image"
)

func repository(t testing.TB, name string) image.Repository {
	t.Helper()
	r, err := image.ParseRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// followed are the repositories of these tests, by component.
var followed = map[string]string{
	"web": "quay.io/acme/web", "cache": "docker.io/library/redis", "hub": "docker.io/acme/tool", "port": "registry.example.com:5000/x/y",
}

func find(t testing.TB, text string) string {
	t.Helper()
	var literals []string
	var names []image.Repository
	for _, name := range followed {
		r := repository(t, name)
		literals, names = append(literals, r.Name()), append(names, r)
	}
	follow := func(r image.Repository) (string, bool) {
		for component, name := range followed {
			if r == repository(t, name) {
				return component, true
			}
		}
		return "team", strings.HasPrefix(r.String(), "quay.io/team/")
	}
	var found []string
	for _, o := range New(append(literals, "team"), names).Find([]byte(text), follow) {
		kind := ""
		if !o.Versioned {
			kind = " bare"
		}
		if o.Comment {
			kind += " comment"
		}
		found = append(found, fmt.Sprintf("%d:%d %s %s%s", o.Line, o.Column, o.Component, o.Text, kind))
	}
	return strings.Join(found, "\n")
}

func TestFind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "",
		"web: {}\nwebhook: web\n":        "",
		"a=quay.io/acme/web:1.4.0\n":     "1:3 web quay.io/acme/web:1.4.0",
		"é quay.io/acme/web@sha256:abc":  "1:3 web quay.io/acme/web@sha256:abc",
		"x\n\n- oci://quay.io/acme/web.": "3:9 web quay.io/acme/web bare",
		"{ _images+:: { web: 'quay.io/acme/web:1.4.0' } }": "1:22 web quay.io/acme/web:1.4.0",
		"'quay.io/acme/web:' + tag":                        "1:2 web quay.io/acme/web:",
		"quay.io/acme/web: 1.4.0":                          "1:1 web quay.io/acme/web:",
		"quay.io/acme/web: the image":                      "1:1 web quay.io/acme/web: bare",
		"quay.io/acme/web:${TAG}":                          "1:1 web quay.io/acme/web:",
		"${IMAGE:-quay.io/acme/web:1.4.0}":                 "1:10 web quay.io/acme/web:1.4.0",
		"${REGISTRY}/acme/web:1.4.0":                       "1:13 web acme/web:1.4.0",
		"$REGISTRY/acme/web:1.4.0":                         "1:11 web acme/web:1.4.0",
		"{{ .hub }}/web:1.4.0":                             "1:12 web web:1.4.0",
		"{{ .hub }}/web":                                   "",
		"printf(\"%s/acme/web:%s\", r, t)":                 "1:12 web acme/web:",
		"registry + '/acme/web:' + tag":                    "1:14 web acme/web:",
		"path: \"/acme/web\"":                              "",
		"cd /srv/acme/web":                                 "",
		"registry: quay.io\nname: acme/web\n":              "2:7 web acme/web bare",
		"registry: ghcr.io\nname: acme/web\n":              "",
		"docker-image:quay.io/acme/web:1":                  "1:14 web quay.io/acme/web:1",
		"https://quay.io/acme/web:1":                       "",
		"git@github.com:acme/web.git":                      "",
		"quay.io/acme/web-b quay.io/acme/web/c quay.io/acme/web* quay.io/acme/web:*": "",
		"mirror.example.com/quay.io/acme/web:1":                                      "",
		"redis: 6379\nredis:6379 redis redis.conf":                                   "",
		"FROM redis:7.2 AS x":                                                        "1:6 cache redis:7.2",
		"docker.io/redis:7 index.docker.io/library/redis:7":                          "1:1 cache docker.io/redis:7\n1:19 cache index.docker.io/library/redis:7",
		"acme/tool":                       "1:1 hub acme/tool bare",
		"registry.example.com:5000/x/y:2": "1:1 port registry.example.com:5000/x/y:2",
		"quay.io/team/any:1":              "1:1 team quay.io/team/any:1",
		"# quay.io/acme/web:1\n a: b # quay.io/acme/web:2":                                 "1:3 web quay.io/acme/web:1 comment\n2:9 web quay.io/acme/web:2 comment",
		"  // quay.io/acme/web:1":                                                          "1:6 web quay.io/acme/web:1 comment",
		"quay.io/acme/web:1 # promoter: ignore\nquay.io/acme/web:2 // promoter: ignore":    "",
		"argocd-image-updater.argoproj.io/image-list: web=quay.io/acme/web:1.x":            "",
		"[quay.io/acme/web:1,quay.io/acme/web:2]":                                          "1:2 web quay.io/acme/web:1\n1:21 web quay.io/acme/web:2",
		"quay.io/acme/web:1\x1b[2J":                                                        "1:1 web quay.io/acme/web:1",
		strings.Repeat("a", maxWord) + "/quay.io/acme/web:1":                               "",
		"sh -c 'crane export quay.io/acme/web:1.4.0 - | tar x'; crane digest acme/web:1.4": "1:21 web quay.io/acme/web:1.4.0\n1:69 web acme/web:1.4",
	} {
		if got := find(t, text); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}

// Without literals, any word may be a name.
func TestFind_withoutLiterals(t *testing.T) {
	t.Parallel()
	f := New(nil, nil)
	found := f.Find([]byte("a b/c quay.io/x/y:1 z"), func(r image.Repository) (string, bool) { return r.Host(), r.HasDomain() })
	if len(found) != 1 || found[0].Text != "quay.io/x/y:1" {
		t.Errorf("found %+v", found)
	}
}

// The time of a search does not grow faster than the text.
func TestFind_hostile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("web", 1<<18), strings.Repeat("web ", 1<<18), strings.Repeat("acme/web ", 1<<17), strings.Repeat("web:1\n", 1<<17),
		strings.Repeat("/", 1<<20) + "web", strings.Repeat("quay.io/acme/web ", 1<<15),
	} {
		find(t, text)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("a ${X:-quay.io/acme/web:1} /acme/web: $R/acme/web@x # promoter: ignore\nredis:7")
	f.Fuzz(func(t *testing.T, text string) {
		for line := range strings.SplitSeq(find(t, text), "\n") {
			if line != "" && !strings.Contains(text, "web") && !strings.Contains(text, "redis") && !strings.Contains(text, "tool") &&
				!strings.Contains(text, "y") && !strings.Contains(text, "team") {
				t.Errorf("%q: found %s", text, line)
			}
		}
	})
}

func TestInDocument(t *testing.T) {
	t.Parallel()
	content := []byte("a: b\n---\nc: d\ne: f\n--- # x\ng: h\n")
	for line, want := range map[int]bool{1: false, 3: true, 4: true, 6: false} {
		if got := Documents(content, [][]byte{[]byte("c: d")}).Has(line); got != want {
			t.Errorf("line %d: %t", line, got)
		}
	}
}
