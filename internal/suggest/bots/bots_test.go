package bots_test

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/image"
	"promoter/internal/suggest/bots"
)

// read returns what files configure: the texts behind "-- NAME" lines.
func read(text string) bots.Setup {
	files := map[string][]byte{}
	for _, part := range strings.Split(text, "-- ")[1:] {
		file, content, _ := strings.Cut(part, "\n")
		if bots.MayConfigure(file, []byte(content)) {
			files[file] = []byte(content)
		}
	}
	return bots.Read(files)
}

// rules writes the rules for an image.
func rules(s bots.Setup, repository string) string {
	parsed, err := image.ParseRepository(repository)
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, rule := range s.Rules {
		if !rule.Applies(parsed) {
			continue
		}
		all = append(all, strings.Join(strings.Fields(fmt.Sprint(rule.Selection.Semver, rule.Selection.Tag, rule.Selection.Newest, rule.Selection.Numeric, rule.Selection.Alphabetical,
			" ", rule.Selection.Filter, " ", rule.Range, " ", rule.Filter, " ", strings.Join(append(rule.Selection.Exclude, rule.Exclude...), " "),
			map[bool]string{true: " no minor"}[rule.NoMinor], " ", rule.Problem)), " "))
	}
	return strings.Join(all, "; ")
}

// writers writes which bots update an image in a file.
func writers(s bots.Setup, file, repository string) string {
	parsed, _ := image.ParseRepository(repository)
	var all []string
	for _, w := range s.Writers {
		if w.Updates(file, parsed) {
			all = append(all, w.Bot)
		}
	}
	return strings.Join(all, "; ")
}

func flux(policy string) string {
	return "-- i.yaml\napiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageRepository\nmetadata: {name: web, namespace: apps}\nspec: {image: a.io/web}\n---\n" +
		"apiVersion: image.toolkit.fluxcd.io/v1beta2\nkind: ImagePolicy\nmetadata: {name: web, namespace: apps}\nspec:\n  imageRepositoryRef: {name: web}\n  " + policy + "\n" +
		"-- a.yaml\napiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageUpdateAutomation\nmetadata: {name: all}\nspec: {update: {path: ./apps}}\n" +
		"-- apps/web.yaml\nimage: a.io/web:1.0 # {\"$imagepolicy\": \"apps:web\"}\n-- other/web.yaml\nimage: a.io/web:1.0 # {\"$imagepolicy\": \"apps:web:tag\"}\n"
}

func annotations(list string) string {
	return "-- apps/web.yaml\nkind: Application\nmetadata:\n  annotations:\n    argocd-image-updater.argoproj.io/" + strings.ReplaceAll(list, "\n", "\n    argocd-image-updater.argoproj.io/") + "\n"
}

func TestRead(t *testing.T) {
	t.Parallel()
	const updater = "Argo CD Image Updater"
	for name, test := range map[string]struct{ files, rules, writers string }{
		"nothing":                   {"-- a.yaml\nimage: a.io/web:1\n-- apps/x.md\nkeel.sh/policy: all\n", "", ""},
		"Flux, a range":             {flux("policy: {semver: {range: ^1.4}}"), "^1.4", "Flux's ImageUpdateAutomation all"},
		"Flux, a named group":       {flux(`filterTags: {pattern: '^(a|[(])-(?P<ts>\d+)$', extract: '${ts}'}` + "\n  policy: {numerical: {order: asc}}"), `^(a|[(])-(?P<version>\d+)$`, "Flux's ImageUpdateAutomation all"},
		"Flux, a number of a group": {flux(`filterTags: {pattern: '^(?:a|[(])(\()-(\d+)$', extract: '$2'}` + "\n  policy: {alphabetical: {}}"), `^(?:a|[(])(\()-(?P<version>\d+)$`, "Flux's ImageUpdateAutomation all"},
		"Flux, a text":              {flux(`filterTags: {pattern: '^(a)(b)$', extract: '$1-$2'}` + "\n  policy: {semver: {range: 1.x}}"), "it compares a part of the tag that is not one group of its pattern", "Flux's ImageUpdateAutomation all"},
		"Flux, a filter only":       {flux(`filterTags: {pattern: '-rc'}` + "\n  policy: {semver: {range: 1.x-0}}"), "1.x-0 -rc", "Flux's ImageUpdateAutomation all"},
		"Flux, descending":          {flux("policy: {numerical: {order: desc}}"), "it selects the lowest tag", "Flux's ImageUpdateAutomation all"},

		"Flux, a patched policy": {
			"-- base/i.yaml\napiVersion: image.toolkit.fluxcd.io/v1\nkind: ImagePolicy\nmetadata: {name: web}\nspec: {imageRepositoryRef: {name: web}}\n" + flux("policy: {semver: {range: ^1.4}}"),
			"^1.4", "Flux's ImageUpdateAutomation all",
		},
		"Flux, no policy": {flux("interval: 1m"), "it has no policy in this file, a patch of a kustomization may add it", "Flux's ImageUpdateAutomation all"},

		"annotations, a constraint":   {annotations("image-list: x=a.io/other, w=a.io/web:>=1.2"), ">=1.2", updater},
		"annotations, any version":    {annotations("image-list: a.io/web\nallow-tags: any"), "", updater},
		"annotations, newest":         {annotations("image-list: w=a.io/web\nw.update-strategy: latest\nw.ignore-tags: main, x?-*"), ".* ^main$ ^x.-.*$", updater},
		"annotations, a class":        {annotations("image-list: w=a.io/web\nw.ignore-tags: '[a-z]*'"), "ignore-tags is no plain glob", updater},
		"annotations, a digest":       {annotations("image-list: w=a.io/web:main\nw.update-strategy: digest"), "main", updater},
		"annotations, turned off":     {annotations("image-list: w=a.io/web\nw.ignore-tags: '*'"), "", ""},
		"annotations, for all images": {annotations("image-list: a.io/web\nupdate-strategy: alphabetical\nallow-tags: 'regexp:^v'"), "^v", updater},
		"annotations, in an ApplicationSet": {
			"-- apps/web.yaml\nkind: ApplicationSet\nspec: {template: {metadata: {annotations: {argocd-image-updater.argoproj.io/image-list: 'a.io/web:2.x'}}}}\n", "2.x", updater,
		},

		"Keel, minor":      {keel("minor"), "", "Keel"},
		"Keel, patch":      {keel("patch"), "no minor", "Keel"},
		"Keel, a glob":     {keel("'glob:build-*'"), "^build-.*$", "Keel"},
		"Keel, a pattern":  {keel(`'regexp:^b-(?P<compare>\d+)$'`), `^b-(?P<version>\d+)$`, "Keel"},
		"Keel, force":      {keel("force"), "1.0", "Keel"},
		"Keel, never":      {keel("never"), "", ""},
		"Keel, an unknown": {keel("sometimes"), "the policy sometimes", "Keel"},

		"Renovate":                    {"-- renovate.json\n{}\n", "", "Renovate"},
		"Renovate, off":               {"-- renovate.json\n{\"enabled\": false}\n", "", ""},
		"Renovate, no images":         {"-- .github/renovate.json\n{\"enabledManagers\": [\"npm\"]}\n", "", ""},
		"Renovate, ignored":           {"-- .renovaterc\n{\"ignoreDeps\": [\"a.io/web\"]}\n", "", ""},
		"Renovate, off and on again":  {renovate(`{matchPackageNames: ['*'], enabled: false}, {matchPackageNames: ['a.io/**'], enabled: true}`), "", "Renovate"},
		"Renovate, off in one file":   {renovate(`{matchPackageNames: ['a.io/web'], matchFileNames: ['x.yaml'], enabled: false}`), "", "Renovate"},
		"Renovate, not for this":      {renovate(`{matchPackageNames: ['a.io/**', '!a.io/web'], allowedVersions: '<2'}`), "", "Renovate"},
		"Renovate, a range":           {renovate(`{matchPackagePrefixes: ['a.io/w'], allowedVersions: '<2', }, // x`), "<2", "Renovate"},
		"Renovate, a pattern":         {renovate(`{matchPackageNames: ['/^a\\.io\\//'], allowedVersions: "/^1\\.[0-9]+$/"}`), `^1\.[0-9]+$`, "Renovate"},
		"Renovate, not a pattern":     {renovate(`{matchPackageNames: ['a.io/web'], allowedVersions: '!/rc/'}`), "rc", "Renovate"},
		"Renovate, no major":          {renovate(`{matchUpdateTypes: ['major'], enabled: false}`), "", "Renovate"},
		"Renovate, no minor":          {renovate(`{matchUpdateTypes: ['major', 'minor'], enabled: false}`), "no minor", "Renovate"},
		"Renovate, two patterns":      {renovate(`{versioning: 'regex:^(?<major>\\d+)$', allowedVersions: '/^1/'}`), `^(?<major>\d+)$ it has two regular expressions`, "Renovate"},
		"Renovate, for other sources": {renovate(`{matchDatasources: ['npm'], allowedVersions: '<2'}, {matchManagers: ['gomod'], allowedVersions: '<3'}`), "", "Renovate"},

		"Dependabot":                 {dependabot("apps", "[]"), "", "Dependabot"},
		"Dependabot, elsewhere":      {dependabot("src", "[]"), "", ""},
		"Dependabot, in all folders": {dependabot("**", "[]"), "", "Dependabot"},
		"Dependabot, ignored":        {dependabot("apps", "[{dependency-name: web}]"), "", ""},
		"Dependabot, versions":       {dependabot("apps", "[{dependency-name: w*, versions: ['>= 3', '2.1.x']}]"), "<2.1 || >=2.2 <3", "Dependabot"},
		"Dependabot, one version":    {dependabot("apps", "[{dependency-name: web, versions: 1.5.0}]"), "!=1.5.0", "Dependabot"},
		"Dependabot, up to a major":  {dependabot("apps", "[{dependency-name: web, versions: ['~> 2.1']}]"), "<2.1 || >=3", "Dependabot"},
		"Dependabot, an unknown":     {dependabot("apps", "[{dependency-name: web, versions: ['> 1, < 2']}]"), `it ignores "> 1, < 2"`, "Dependabot"},
		"Dependabot, no minor":       {dependabot("apps", "[{dependency-name: '*', update-types: ['version-update:semver-minor']}]"), "no minor", "Dependabot"},
		"Dependabot, no patch":       {dependabot("apps", "[{dependency-name: '*', update-types: ['version-update:semver-patch']}]"), "it ignores patch versions", "Dependabot"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			setup := read(test.files)
			if got := rules(setup, "a.io/web"); got != test.rules {
				t.Errorf("rules: %q, want %q", got, test.rules)
			}
			if got := writers(setup, "apps/web.yaml", "a.io/web"); got != test.writers {
				t.Errorf("writers: %q, want %q", got, test.writers)
			}
			if got := writers(setup, "elsewhere/web.yaml", "a.io/api"); got != "" && got != "Renovate" && !strings.Contains(name, "in all folders") {
				t.Errorf("another image: %q", got)
			}
			if len(setup.Unread) > 0 {
				t.Errorf("unread: %q", setup.Unread)
			}
		})
	}
}

func keel(policy string) string {
	return "-- apps/web.yaml\nkind: Deployment\nmetadata: {annotations: {keel.sh/policy: " + policy + "}}\nspec: {containers: [{image: 'a.io/web:1.0'}]}\n"
}

func renovate(rules string) string {
	return "-- renovate.json5\n// Settings\n{/* of */ packageRules: [" + rules + "\n],\t}\n"
}

func dependabot(directory, ignore string) string {
	return "-- .github/dependabot.yml\nversion: 2\nupdates: [{package-ecosystem: docker, directories: [/" + directory + "], ignore: " + ignore + "}]\n"
}

// What cannot be read is named, and nothing breaks.
func TestRead_unread(t *testing.T) {
	t.Parallel()
	for file, text := range map[string]string{
		"renovate.json":          "{\"a\": [",
		".github/dependabot.yml": "a: [",
		"a/application.yaml":     "{{ if .x }}\nargocd-image-updater.argoproj.io/image-list: a\n",
		"a/keel.yaml":            "{{ if .x }}\nkeel.sh/policy: all\n",
		"a/flux.yaml":            "kind: ImagePolicy\napiVersion: image.toolkit.fluxcd.io/v1\na: {{ .x }}}\n",
	} {
		setup := read("-- " + file + "\n" + text)
		if len(setup.Unread) != 1 || !strings.HasSuffix(setup.Unread[0], "("+file+")") || len(setup.Rules)+len(setup.Writers) > 0 {
			t.Errorf("%s: %+v", file, setup)
		}
	}
}

// A template of the objects that a tool defines configures nothing, and its text is no YAML.
func TestRead_definitionsOfATool(t *testing.T) {
	t.Parallel()
	text := "{{- if .x }}\nkind: CustomResourceDefinition\nspec: {group: image.toolkit.fluxcd.io, names: {\n  kind: ImagePolicy}}\n{{- end }}\n"
	if setup := bots.Read(map[string][]byte{"crds.yaml": []byte(text)}); len(setup.Unread) > 0 {
		t.Errorf("unread: %v", setup.Unread)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("renovate.json5", []byte("{a: 'b', // c\n packageRules: [{matchPackageNames: ['/(/'], allowedVersions: '!/[/'}]}"))
	f.Add(".github/dependabot.yml", []byte("updates: [{package-ecosystem: docker, directory: '*', ignore: [{versions: [x]}]}]"))
	f.Add("a.yaml", []byte("apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImagePolicy\nspec: {filterTags: {pattern: '((', extract: $1}}"))
	f.Add("a.yaml", []byte("argocd-image-updater.argoproj.io/image-list: a=b=c:d:e,=,:\nkeel.sh/policy: 'glob:'"))
	f.Fuzz(func(_ *testing.T, file string, content []byte) {
		s := bots.Read(map[string][]byte{file: content})
		repository, _ := image.ParseRepository("a.io/web")
		for _, rule := range s.Rules {
			rule.Applies(repository)
		}
		for _, w := range s.Writers {
			w.Updates("a.yaml", repository)
			w.Off([]image.Repository{repository})
		}
	})
}
