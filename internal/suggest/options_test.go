package suggest_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/suggest"
)

var (
	turnedOff   = regexp.MustCompile(`(?m)^( *)#(\S.*)$`)
	alternative = regexp.MustCompile(`(?m)^( *[a-zA-Z]+: ).* # or: (.+)$`)
)

// turnOn takes away the # of every setting that is off.
func turnOn(text string) string { return turnedOff.ReplaceAllString(text, "$1$2") }

// alternate puts the value behind "or:" in the place of the one before it.
func alternate(text string) string { return alternative.ReplaceAllString(text, "$1$2") }

// holdsTogether checks that a suggested file loads as it is and with everything
// that its comments offer.
func holdsTogether(t testing.TB, s *suggest.Suggestion) {
	t.Helper()
	if len(loads(t, s.Text).Environments) != len(s.Environments) {
		t.Errorf("%d environments are suggested, but the file has another number:\n%s", len(s.Environments), s.Text)
	}
	loads(t, turnOn(s.Text))
	loads(t, alternate(turnOn(s.Text)))
	for line := range strings.SplitSeq(s.Text, "\n") {
		if strings.TrimRight(line, " \t") != line {
			t.Errorf("a line ends in white space: %q", line)
		}
	}
}

func TestConfig_settingsThatAreOffLoad(t *testing.T) {
	t.Parallel()
	trees := map[string][]string{
		"a chain":          {"dev/web/d.yaml a.io/x/web:1.2.0", "staging/web/d.yaml a.io/x/web:1.2.0", "prod/web/d.yaml a.io/x/web:1.2.0"},
		"nothing captured": {"dev/d.yaml a.io/x/web:1.2.0", "prod/d.yaml a.io/x/web:latest"},
		"one environment":  {"web.yaml a.io/x/web:1.2.0"},
		"many parents": {
			"staging-eu/d.yaml a.io/x/web:1.2.0", "staging-us/d.yaml a.io/x/web:1.2.0", "staging-ap/d.yaml a.io/x/web:1.2.0",
			"staging-ca/d.yaml a.io/x/web:1.2.0", "prod/d.yaml a.io/x/web:1.2.0",
		},
		"a pattern and common images": {
			"dev/d.yaml a.io/x/a:1.2.0 a.io/x/b:1.2.0 a.io/x/c:1.2.0 a.io/x/d:1.2.0 redis:7 nginx:1.27.0-alpine",
			"base/d.yaml a.io/y/e:main-0a1b2c3",
		},
		"names that YAML takes for something else": {"dev/d.yaml null:1.0.0 a.io/no:1 a.io/1e3:1.0.0 a.io/0123:1.0.0 true:yes a.io/y:1.0.0"},
	}
	for name, tree := range trees {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := suggestion(t, found(t, tree...))
			holdsTogether(t, s)
			if turnOn(s.Text) == s.Text || alternate(s.Text) == s.Text {
				t.Errorf("no setting is off, or none has an alternative:\n%s", s.Text)
			}
		})
	}
}

func TestConfig_pattern(t *testing.T) {
	t.Parallel()
	tree := found(t, "dev/d.yaml a.io/x/a:1.2.0 a.io/x/b:1.2.0 a.io/x/c:1.2.0 a.io/x/d:1.2.0 a.io/y/e:1.2.0")
	want := "  #all-x: {image: 'a.io/x/*', select: {semver: '>=1.2.0 <2'}}\n"
	if text := suggestion(t, tree).Text; !strings.Contains(text, want) {
		t.Errorf("no pattern is offered:\n%s", text)
	}
}

// FuzzConfig holds the promise of the package against any tree: the text loads,
// also with all that it offers, and does not depend on the order of the input.
func FuzzConfig(f *testing.F) {
	f.Add([]byte("apps/web/overlays/dev/k.yaml quay.io/acme/web:1.2.3\napps/web/overlays/prod/k.yaml quay.io/acme/web:1.2.2"), uint8(0))
	f.Add([]byte("a/values-dev.yaml nginx:1.2-alpine\na/values-prod.yaml nginx:latest\na/values.yaml nginx:7"), uint8(1))
	f.Add([]byte("web-eu-prod/x.yaml a.io/x:main-0a1b2c3\nweb-prod/x.yaml a.io/y:20240101\nweb-dev/x.yaml a.io/z"), uint8(2))
	f.Add([]byte("dev/'{x}*/k.yaml a.io/o'x:1\npre-prod/\x00/k a.io/x:1@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), uint8(3))
	f.Add([]byte("prod/prod-eu/prod/dev/k.yaml localhost:5000/x:v1-rc.1\ndev/dev/dev.yaml docker.io/a.b/c:v1.2.3-4-gabcdef0"), uint8(4))
	f.Fuzz(func(t *testing.T, data []byte, shape uint8) {
		tree := treeOf(data, shape)
		s, err := suggest.Config(tree)
		if err != nil {
			return
		}
		holdsTogether(t, s)
		slices.Reverse(tree.Files)
		slices.Reverse(tree.References)
		again, err := suggest.Config(tree)
		if err != nil || again.Text != s.Text {
			t.Errorf("another order of the input gives another text (%v):\n%s\n%v", err, s.Text, again)
		}
	})
}

// treeOf reads lines of a path and a reference.
func treeOf(data []byte, shape uint8) suggest.Found {
	shapes := []edit.Shape{"reference", "kustomize-images", "helm-values", "oci-repository", "helm-release"}
	var out suggest.Found
	for i, line := range bytes.Split(data, []byte("\n")) {
		path, text, _ := strings.Cut(string(line), " ")
		out.Files = append(out.Files, path)
		parsed, err := image.Parse(text)
		if err != nil {
			continue
		}
		out.References = append(out.References, edit.Reference{
			Shape: shapes[int(shape)%len(shapes)], Key: "image", Position: edit.Position{File: path, Line: i + 1, Column: 1},
			Repository: parsed.Repository, Tag: parsed.Tag, Digest: parsed.Digest,
		})
	}
	return out
}

// Files that hold only a tag are no components of their own: what is written about them is
// off until a user names the image.
func TestConfig_tagFiles(t *testing.T) {
	t.Parallel()
	tree := found(t, "charts/web/values.yaml a.io/x/app:1.2.0")
	for _, environment := range []string{"dev", "prod"} {
		for _, application := range []string{"api", "mail", "shop", "web"} {
			file := "tags/" + environment + "/" + application + ".yaml"
			tree.Files = append(tree.Files, file)
			tree.References = append(tree.References, edit.Reference{
				Shape: "tag-file", Key: "image_tag", Tag: "v12", Position: edit.Position{File: file, Line: 1, Column: 12},
			})
		}
	}
	s := suggestion(t, tree)
	holdsTogether(t, s)
	for _, want := range []string{
		"  #app-image: {image: 'registry.example.com/team/{application}', select: {numeric: '^v(?P<version>[0-9]+)$'}}\n",
		"    #write: [{file: 'tags/prod/{application}.yaml', path: image_tag, component: app-image}]\n",
	} {
		if !strings.Contains(s.Text, want) {
			t.Errorf("no %s in\n%s", want, s.Text)
		}
	}
	tree.References = tree.References[1:]
	if _, err := suggest.Config(tree); err == nil || !strings.Contains(err.Error(), "8 files hold only a tag: name the image with write") {
		t.Errorf("without an image: %v", err)
	}
}
