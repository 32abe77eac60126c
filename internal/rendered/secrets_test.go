package rendered_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"promoter/internal/rendered"
)

// The values of secrets before and after a change.
const (
	marker    = "hunter2-swordfish"
	newMarker = "correct-horse"
)

// compare returns the difference between manifests with the marker and those with another one. It
// fails if it contains one of them.
func compare(t *testing.T, manifests string) string {
	t.Helper()
	for _, one := range []string{marker, newMarker} {
		text := strings.ReplaceAll(strings.ReplaceAll(manifests, "BASE64", base64.StdEncoding.EncodeToString([]byte(one))), "VALUE", one)
		shown := ""
		for _, pair := range [][2]string{{"", text}, {text, ""}, {text, strings.ReplaceAll(text, one, "other")}} {
			diff, err := rendered.Compare(pair[0], pair[1])
			if err != nil {
				diff = err.Error()
			}
			shown += diff
		}
		if reveals(shown, one) {
			t.Errorf("%s\n\nis shown as\n\n%s", text, shown)
		}
	}
	diff, err := rendered.Compare(strings.ReplaceAll(manifests, "VALUE", marker), strings.ReplaceAll(manifests, "VALUE", newMarker))
	if err != nil {
		return err.Error()
	}
	return diff
}

// longToken matches what can be base64.
var longToken = regexp.MustCompile(`[A-Za-z0-9+/]{8,}={0,2}`)

// reveals reports whether a text contains a value, also in base64.
func reveals(text, value string) bool {
	if strings.Contains(text, value) {
		return true
	}
	for _, token := range longToken.FindAllString(text, -1) {
		if decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(token, "=")); err == nil && reveals(string(decoded), value) {
			return true
		}
	}
	return false
}

const secret = `apiVersion: v1
kind: Secret
metadata: {name: a}
`

func TestSecrets_areNotShown(t *testing.T) {
	t.Parallel()
	inJSON, _ := json.Marshal(map[string]any{"kind": "Secret", "stringData": map[string]string{"a": "VALUE"}})
	quoted, _ := json.Marshal(string(inJSON))
	twice, _ := json.Marshal(map[string]string{"nested": string(quoted)})
	inBase64 := base64.StdEncoding.EncodeToString([]byte(secret + "data: {a: " + marker + "}\n"))
	for name, manifests := range map[string]string{
		"data":                    secret + "data: {a: VALUE}\n",
		"stringData":              secret + "stringData:\n  a: |\n    VALUE\n  b: other\n",
		"several documents":       "kind: ConfigMap\ndata: {a: b}\n---\n" + secret + "data: {a: VALUE}\n---\n" + secret + "data: {a: VALUE}\n",
		"a list":                  "kind: List\nitems:\n- kind: Secret\n  data: {a: VALUE}\n- kind: Pod\n",
		"a list of Secrets":       "kind: SecretList\nitems:\n- datas: {a: VALUE}\n- data: {a: VALUE}\n- stringData: {b: VALUE}\n",
		"lists in lists":          "kind: List\nitems:\n- kind: List\n  items:\n  - kind: SecretList\n    items: [{metadata: {name: a}, data: {a: VALUE}}]\n",
		"listed data":             secret + "data: [VALUE, {a: VALUE}, [VALUE]]\n",
		"a text as data":          secret + "data: VALUE\n",
		"deep data":               secret + "stringData: {a: {b: [{c: VALUE}]}}\n",
		"other fields":            secret + "datas: {a: VALUE}\nspec: {values: [VALUE]}\nstring-data: VALUE\n",
		"fields of references":    secret + "name: {a: VALUE}\ntype: [VALUE]\n",
		"other case":              "Kind: SECRET\nDATA: {a: VALUE}\nStringdata: {b: VALUE}\n",
		"fields given twice":      "kind: ConfigMap\nkind: Secret\nkind: Pod\ndata: {a: VALUE}\ndata: {a: VALUE}\n",
		"spaces":                  "' kind ': ' Secret '\n'data ': {a: VALUE}\n",
		"a binary kind":           "kind: !!binary U2VjcmV0\ndata: {a: VALUE}\n",
		"binary data":             secret + "data: {a: !!binary BASE64}\n",
		"tags":                    "!k8s kind: !x Secret\nstringData: !y {a: !z VALUE}\n",
		"aliased data":            "x: &data {a: VALUE}\nkind: Secret\ndata: *data\n",
		"an aliased value":        "x: &value VALUE\nkind: Secret\ndata: {a: *value}\n",
		"a value with an anchor":  "kind: List\nitems:\n- {kind: Secret, data: {a: &v VALUE}}\n- {kind: ConfigMap, data: {a: *v, *v : b}}\n",
		"an aliased kind":         "x: &kind Secret\nkind: *kind\ndata: {a: VALUE}\n",
		"an aliased key":          "x: &data data\nkind: Secret\n*data : {a: VALUE}\n",
		"an aliased Secret":       "kind: List\nx: &s {kind: Secret, data: {a: VALUE}}\nitems: [*s, *s]\n",
		"a merged kind":           "x: &base {kind: Secret}\n<<: *base\ndata: {a: VALUE}\n",
		"merged data":             "x: &base {data: {a: VALUE}}\n<<: *base\nkind: Secret\n",
		"merged values":           "x: &base {a: VALUE}\nkind: Secret\ndata: {<<: *base, b: c}\n",
		"merged from several":     "x: &a {kind: Secret}\ny: &b {data: {a: VALUE}}\n<<: [*b, *a]\n",
		"an inline merge":         "<<: {kind: Secret, data: {a: VALUE}}\nkind: ConfigMap\n",
		"merged with other kind":  "x: &base {kind: Secret, data: {a: VALUE}}\n<<: *base\nkind: ConfigMap\n",
		"a merge of no mapping":   "x: &base VALUE\n<<: *base\nkind: Secret\n",
		"comments":                "# data: VALUE\n" + secret + "# VALUE\ndata: # VALUE\n  a: b # VALUE\n  # VALUE\n# VALUE\n",
		"comments about another":  "kind: Pod # VALUE\n# " + strings.ReplaceAll(secret, "\n", "\n# ") + "data: VALUE\n---\n# VALUE\n",
		"last applied":            secret + "  # a\ndata: {}\n" + strings.ReplaceAll(secret, "{name: a}", "{annotations: {kubectl.kubernetes.io/last-applied-configuration: 'VALUE'}}"),
		"last applied of a List":  "kind: List\nmetadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      " + `{"items":[` + string(inJSON) + "]}\n",
		"broken last applied":     "kind: Pod\nmetadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{\"VALUE'\n",
		"an annotation with JSON": "kind: Pod\nmetadata: {annotations: {a: '" + string(inJSON) + "'}}\n",
		"a SealedSecret":          "kind: SealedSecret\nspec: {encryptedData: {a: x}, template: {metadata: {name: a}, data: {a: VALUE}}}\n",
		"an ExternalSecret":       "kind: ExternalSecret\nspec: {target: {template: {data: {a: VALUE}, stringData: {b: VALUE}}}}\n",
		"a SopsSecret":            "kind: SopsSecret\nspec: {secretTemplates: [{name: a, stringData: {a: VALUE}}]}\n",
		"a template of a policy":  "kind: ClusterPolicy\nspec: {rules: [{generate: {kind: Secret, name: a, data: {kind: Secret, data: {a: VALUE}}}}]}\n",
		"resources":               "kind: Template\nobjects:\n- {kind: Secret, stringData: {a: VALUE}}\nspec: {resources: [{manifest: {kind: Secret, data: {a: VALUE}}}]}\n",
		"a key that is a Secret":  "kind: Pod\n? {kind: Secret, data: {a: VALUE}}\n: a\n",
		"YAML in a ConfigMap":     "kind: ConfigMap\ndata:\n  a.yaml: |\n    a: b\n    ---\n    kind: Secret\n    stringData: {a: VALUE}\n",
		"JSON in a ConfigMap":     "kind: ConfigMap\ndata: {a.json: '" + string(inJSON) + "'}\n",
		"JSON with tabs":          "kind: ConfigMap\ndata:\n  a.json: \"" + strings.ReplaceAll("{\t'kind':\t'Secret',\t'data': {'a': 'VALUE'}}", "'", `\"`) + "\"\n",
		"escaped JSON":            "kind: ConfigMap\ndata: {a.json: '" + `{"\u006bind":"\u0053ecret","d\u0061ta":{"b":"\ud83d\ude00","a":"VALUE"}}` + "'}\n",
		"several JSON documents":  "kind: ConfigMap\ndata: {a.json: '{} " + string(inJSON) + "'}\n",
		"a text in a text":        "kind: ConfigMap\ndata: {a.json: '" + string(twice) + "'}\n",
		"an escaped text":         "kind: ConfigMap\ndata: {a.json: '" + strings.NewReplacer("kind", `\\u006bind`, "Secret", `\\u0053ecret`).Replace(string(twice)) + "'}\n",
		"aliases in a ConfigMap":  "kind: ConfigMap\ndata:\n  a.yaml: |\n    - &v VALUE\n    - {kind: Secret, data: {a: *v}}\n",
		"base64 in a ConfigMap":   "kind: ConfigMap\nbinaryData: {a: " + inBase64 + "}\n",
		"a commented Secret":      "kind: ConfigMap\ndata:\n  a.yaml: |\n    a: b\n    # kind: Secret\n    # data: {a: VALUE}\n",
		"only a commented Secret": "kind: ConfigMap\ndata:\n  a.yaml: |\n    # kind: Secret\n    # data: {a: VALUE}\n",
		"a script":                "kind: ConfigMap\ndata:\n  a.sh: |\n    #!/bin/sh\n    kubectl apply -f - <<EOF\n    kind: Secret\n    stringData:\n      a: VALUE\n    EOF\n",
		"a template":              "kind: ConfigMap\ndata:\n  a.yaml: |\n    {{ if .a }}\n    kind: \"Secret\"\n    data: {a: VALUE}\n    {{ end }}\n",
		"a patch in a text":       "kind: Kustomization\nspec: {patches: [{patch: \"kind: Secret\\nstringData: {a: VALUE}\"}]}\n",
		"a JSON patch":            "kind: Kustomization\nspec: {patches: [{target: {kind: Secret}, patch: '[{op: add, path: /x, value: VALUE}]'}]}\n",
		"a JSON patch of values":  "kind: Kustomization\nspec: {patches: [{patch: '[{op: add, path: /stringData/x, value: VALUE}]'}]}\n",
		"a JSON patch of data":    "kind: Kustomization\nspec: {patches: [{patch: '[{op: add, path: /data/x, value: VALUE}]'}]}\n",
		"a JSON patch of kubectl": "kind: Kustomization\nspec: {patch: [{op: add, path: /metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration, value: VALUE}]}\n",
		"a JSON document":         string(inJSON) + "\n",
		"JSON with fields twice":  `{"kind":"Secret","data":{"a":"VALUE"},"data":{"a":"VALUE","a":"VALUE"}}`,
		"an unknown anchor":       secret + "data: {a: *VALUE}\n",
		"broken YAML":             secret + "data: {a: \"VALUE\n  b: }\n",
		"another object of Go":    "kind: ſecret\ndata: {a: VALUE}\n",
		"an alias over documents": secret + "data: {a: &v VALUE}\n---\nkind: ConfigMap\ndata: {a: *v}\n",
		"an alias to a ConfigMap": "kind: ConfigMap\ndata: {b: &v VALUE}\n---\n" + secret + "data: {a: *v}\n",
		"a merge over documents":  "kind: Secret\ndata: &d {a: VALUE}\n...\n---\nkind: ConfigMap\ndata: {<<: *d}\n",
		"a mark before JSON":      "kind: Pod\n---\n\ufeff" + strings.ReplaceAll(string(inJSON), "VALUE", "a: VALUE") + "\n",
		"a byte order mark":       "kind: Pod\n---\n\ufeffkind: Secret\ndata: {a: VALUE}\n",
		"marks in a text":         "kind: ConfigMap\ndata:\n  a: |\n    a: b\n    ---\n    \ufeffkind: Secret\n    data: {a: VALUE}\n",
		"CRLF":                    strings.ReplaceAll(secret+"data:\n  a: VALUE\n", "\n", "\r\n"),
		"CRLF in a text":          "kind: ConfigMap\ndata: {a: \"kind: Secret\\r\\ndata:\\r\\n  a: VALUE\\r\\n\"}\n",
		"data that is not below":  secret + "stringData:\nkey: VALUE\nname: VALUE\nversion: VALUE\n",
		"base64 in data":          "kind: ConfigMap\ndata: {a: " + inBase64 + "}\n",
		"base64 in an annotation": "kind: Pod\nmetadata: {annotations: {a: " + strings.TrimRight(inBase64, "=") + "}}\n",
		"base64 in lines":         "kind: ConfigMap\ndata:\n  a: |\n    " + inBase64[:40] + "\n    " + inBase64[40:] + "\n",
		"a generator":             "kind: Kustomization\nsecretGenerator: [{name: a, literals: [a=VALUE]}]\n",
		"a generator in a text":   "kind: ConfigMap\ndata: {a: 'secretGenerator: [{name: a, literals: [a=VALUE]}]'}\n",
		"a template of a kind":    "kind: ConfigMap\ndata:\n  a.yaml: |\n    {{ if .a }}\n    kind: {{ \"Secret\" }}\n    data: {a: VALUE}\n    {{ end }}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compare(t, manifests)
		})
	}
}

// Readers see that a value changes, and everything else.
func TestSecrets_showThatAValueChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ manifests, want string }{
		"a Secret": {
			secret + "data:\n  a: VALUE\n  b: other\n",
			"--- Secret a\n+++ Secret a\n@@ -2,5 +2,5 @@\n kind: Secret\n metadata: {name: a}\n data:\n-  a: (not shown)\n+  a: '(not shown: changed)'\n   b: (not shown)\n",
		},
		"a ConfigMap": {
			"kind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a.yaml: |\n    kind: Secret\n    data:\n      a: VALUE\n  b: c\n",
			"--- ConfigMap a\n+++ ConfigMap a\n@@ -5,5 +5,5 @@\n   a.yaml: |\n     kind: Secret\n     data:\n-      a: (not shown)\n+      a: '(not shown: changed)'\n   b: c\n",
		},
		"a new value before it": {
			secret + "data:\n  VALUE: a\n  b: other\n  c: VALUE\n",
			"--- Secret a\n+++ Secret a\n@@ -2,6 +2,6 @@\n kind: Secret\n metadata: {name: a}\n data:\n-  " + marker + ": (not shown)\n+  " + newMarker +
				": (not shown)\n   b: (not shown)\n-  c: (not shown)\n+  c: '(not shown: changed)'\n",
		},
		"an ExternalSecret, which names values": {
			"kind: ExternalSecret\nmetadata:\n  name: a\nspec:\n  target: {template: {data: {a: VALUE}}}\n  data:\n  - secretKey: a\n    remoteRef: {key: VALUE}\n",
			"--- ExternalSecret a\n+++ ExternalSecret a\n@@ -2,7 +2,7 @@\n metadata:\n   name: a\n spec:\n-  target: {template: {data: {a: (not shown)}}}\n" +
				"+  target: {template: {data: {a: '(not shown: changed)'}}}\n   data:\n   - secretKey: a\n-    remoteRef: {key: " + marker + "}\n+    remoteRef: {key: " + newMarker + "}\n",
		},
		"base64 that is no Secret": {
			"kind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: aGVsbG86IHdvcmxkIQ==\n  b: VALUE\n",
			"--- ConfigMap a\n+++ ConfigMap a\n@@ -3,4 +3,4 @@\n   name: a\n data:\n   a: aGVsbG86IHdvcmxkIQ==\n-  b: VALUE\n+  b: VALUE\n",
		},
		"nothing": {secret + "data: {a: other}\n", ""},
		"other objects": {
			"kind: Pod\nmetadata:\n  name: a\nspec:\n  data: VALUE\n  secretRef: {kind: Secret, name: VALUE}\n",
			"--- Pod a\n+++ Pod a\n@@ -2,5 +2,5 @@\n metadata:\n   name: a\n spec:\n-  data: " + marker + "\n-  secretRef: {kind: Secret, name: " + marker + "}\n+  data: " +
				newMarker + "\n+  secretRef: {kind: Secret, name: " + newMarker + "}\n",
		},
		"a text that is no Secret": {
			"kind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: |\n    # secrets: see the docs\n    data: 'VALUE'\n",
			"--- ConfigMap a\n+++ ConfigMap a\n@@ -3,4 +3,4 @@\n data:\n   a: |\n     # secrets: see the docs\n-    data: 'VALUE'\n+    data: 'VALUE'\n",
		},
	} {
		diff, err := rendered.Compare(strings.ReplaceAll(test.manifests, "VALUE", marker), strings.ReplaceAll(test.manifests, "VALUE", newMarker))
		want := strings.Replace(strings.Replace(test.want, "VALUE", marker, 1), "VALUE", newMarker, 1)
		if err != nil || diff != want {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", name, err, diff, want)
		}
	}
}

// What kustomize and Helm could not process is in their messages.
func TestSecrets_areNotInReasons(t *testing.T) {
	t.Parallel()
	kustomization := func(text string) tree {
		return tree{"prod/kustomization.yaml": text, "prod/a.yaml": "kind: Secret\nmetadata: {name: a}\nstringData: {a: " + marker + "}\n"}
	}
	broken := chart("1").with(tree{"charts/shop/templates/web.yaml": "{{ fail \"" + marker + "\" }}"})
	for name, test := range map[string]struct {
		files tree
		want  string
	}{
		"a literal": {
			kustomization("secretGenerator: [{name: a, literals: [" + marker + "]}]\n"),
			"kustomize build: the message is not shown, because files contain a Secret",
		},
		"a literal with an address": {
			kustomization("secretGenerator: [{name: a, literals: [\"url=https://a:" + marker + "@b\"]}]\n"),
			"prod/kustomization.yaml:1: what secretGenerator names is not in this repository: it is not rendered",
		},
		"a patch": {
			kustomization("resources: [a.yaml]\npatches: [{patch: '[{\"op\": \"add\", \"path\": \"/stringData/b\", \"value\": \"" + marker + "\"'}]\n"),
			"kustomize build: the message is not shown, because files contain a Secret",
		},
		"a patch with an address": {
			kustomization("patchesStrategicMerge: ['{\"kind\": \"Secret\", \"stringData\": {\"a\": \"https://a:" + marker + "@b\"}}']\n"),
			"prod/kustomization.yaml:1: what patchesStrategicMerge names is not in this repository: it is not rendered",
		},
		"a base with a password": {
			kustomization("resources: [\"https://a:" + marker + "@example.com/b\"]\n"),
			"prod/kustomization.yaml:1: https://example.com/b is not in this repository: it is not rendered",
		},
		"a base with a token": {
			kustomization("resources: [\"https://example.com/b?ref=v1&token=" + marker + "\"]\n"),
			"prod/kustomization.yaml:1: https://example.com/b is not in this repository: it is not rendered",
		},
		"a literal that is an alias": {
			kustomization("secretGenerator: [{name: a, literals: [*" + marker + "]}]\n"),
			"prod/kustomization.yaml is not valid YAML",
		},
		"a kustomization that is broken": {
			kustomization("secretGenerator:\n- name: a\n  literals: [" + marker + "\n"),
			"prod/kustomization.yaml is not valid YAML, line 2",
		},
		"a template": {broken, "helm template: shop/templates/web.yaml:1:3: the message is not shown, because files contain a Secret"},
		"manifests": {
			chart("1").with(tree{"charts/shop/templates/secret.yaml": "kind: Secret\nstringData:\n  a: *" + marker + "\n"}),
			"the manifests are not valid YAML: they are not shown",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after := tree{}
			for file, text := range test.files {
				after[file] = text
				if strings.HasSuffix(file, "kustomization.yaml") || strings.HasSuffix(file, "values-prod.yaml") {
					after[file] += "# changed\n"
				}
			}
			found := differences(t, test.files, after)
			if len(found) != 1 || found[0].Problem != test.want {
				t.Errorf("got %+v, want %q", found, test.want)
			}
		})
	}
}

// A few lines can describe billions of values.
func TestSecrets_ofManyAliasesAreRefused(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [" + marker + "]\n"
	for n := range 20 {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d]\n", n+1, n+1, n, n, n)
	}
	for name, manifests := range map[string]string{"aliases": bomb, "a circle": "a: &a [*a]\n", "a circle of a merge": "a: &a {<<: *a}\n"} {
		if diff, err := rendered.Compare("", manifests); err == nil || strings.Contains(err.Error(), marker) {
			t.Errorf("%s: %v, %d", name, err, len(diff))
		}
	}
}

// FuzzSecrets builds objects from bytes that contain Secrets in any form, and checks that no value
// of one is shown.
func FuzzSecrets(f *testing.F) {
	for _, seed := range []string{"", "\x00\x01\x02\x03", "\x05\x03\x04\x01\x02\x06\x07", "secrets in lists in texts", strings.Repeat("\x03\x04", 20), strings.Repeat("\x07\x02\x05", 9)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > 500 {
			return
		}
		b := builder{choices: choices}
		object, _ := json.Marshal(b.object(0))
		before := b.styled(string(object))
		after := strings.ReplaceAll(before, marker, newMarker)
		for _, pair := range [][2]string{{before, after}, {"", before}, {before, ""}} {
			diff, err := rendered.Compare(pair[0], pair[1])
			if err != nil {
				diff = err.Error()
			}
			if reveals(diff, marker) || reveals(diff, newMarker) {
				t.Fatalf("%s\n\nis shown as\n\n%s", before, diff)
			}
		}
	})
}

// builder builds objects from bytes.
type builder struct{ choices []byte }

func (b *builder) choose(n int) int {
	if len(b.choices) == 0 {
		return 0
	}
	chosen := int(b.choices[0]) % n
	b.choices = b.choices[1:]
	return chosen
}

// object returns an object that is a Secret, or contains one.
func (b *builder) object(depth int) any {
	if depth > 4 {
		return b.secret()
	}
	inner := func() any { return b.object(depth + 1) }
	text := func() string {
		content, _ := json.Marshal(inner())
		return b.styled(string(content))
	}
	switch b.choose(9) {
	case 1:
		return map[string]any{"kind": "List", "items": []any{inner(), map[string]any{"kind": "Pod"}, inner()}}
	case 2:
		return map[string]any{"kind": "SecretList", "items": []any{map[string]any{"stringData": b.values()}}}
	case 3:
		return map[string]any{"kind": "ConfigMap", "data": map[string]any{"a": text(), "b": "c"}}
	case 4:
		return map[string]any{"kind": "Pod", "metadata": map[string]any{
			"annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": text()},
		}}
	case 5:
		return map[string]any{"kind": "SealedSecret", "spec": map[string]any{"template": map[string]any{"data": b.values()}}}
	case 6:
		return map[string]any{"kind": "Work", "spec": map[string]any{"resources": []any{inner()}, "template": inner()}}
	case 7:
		return map[string]any{"kind": "ConfigMap", []string{"binaryData", "data"}[b.choose(2)]: map[string]any{"a": base64.StdEncoding.EncodeToString([]byte(text()))}}
	case 8:
		return map[string]any{"kind": "Kustomization", "patches": []any{map[string]any{
			"patch": text(), "target": map[string]any{"kind": "Secret"},
		}}}
	}
	return b.secret()
}

func (b *builder) secret() any {
	kind := []string{"Secret", "secret", "SECRET"}[b.choose(3)]
	return map[string]any{"kind": kind, []string{"data", "stringData", "DATA", "dat"}[b.choose(4)]: b.values()}
}

// values returns the values of a Secret.
func (b *builder) values() any {
	switch b.choose(4) {
	case 1:
		return []any{marker, map[string]any{"a": marker}}
	case 2:
		return marker
	case 3:
		return map[string]any{"a": map[string]any{"b": []any{marker, nil, 1}}}
	}
	return map[string]any{"a": marker, "b": "x: " + marker}
}

// styled returns JSON as JSON or as one of several forms of YAML.
func (b *builder) styled(object string) string {
	switch b.choose(7) {
	case 1:
		return "---\n" + object + "\n---\n\ufeff" + object
	case 2:
		return "x: &a " + object + "\ny: *a\n"
	case 3:
		return "# " + object + "\nx: &a " + object + "\n<<: *a\n"
	case 4:
		return "[" + object + "," + object + "]"
	case 5:
		return strings.ReplaceAll(object, `"`+marker+`"`, "&v "+marker) + " # " + marker + " kind: Secret"
	case 6:
		return strings.ReplaceAll(object, `"Secret"`, `"\u0053ecret"`)
	}
	return object
}
