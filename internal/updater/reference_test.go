package updater_test

import (
	"strings"
	"testing"

	"promoter/internal/image"
)

const (
	webV1 = "quay.io/acme/web:v1"
	webV2 = "quay.io/acme/web:v2"
)

// swapped returns a case in which every v1 of web becomes v2.
func swapped(name, before string) shapeCase {
	return shapeCase{name: name, before: before, after: strings.ReplaceAll(before, webV1, webV2)}
}

func TestReference_styles(t *testing.T) {
	t.Parallel()
	checkShapes(t, []shapeCase{
		swapped("comment and the space before it stay", "image: "+webV1+"   # keep me\n"),
		swapped("double quotes", "image: \""+webV1+"\"\n"),
		swapped("single quotes", "image: '"+webV1+"'\n"),
		swapped("CRLF", "a: b\r\nimage: "+webV1+"\r\nc: d\r\n"),
		swapped("mixed line ends", "a: b\r\nimage: "+webV1+"\nc: d\r\n"),
		swapped("CR alone", "a: b\rimage: "+webV1+"\rc: d\r"),
		swapped("next line, line and paragraph separators", "a: b\u0085c: d\u2028image: "+webV1+"\u2029e: f\n"),
		swapped("byte order mark", "\ufeffimage: "+webV1+"\n"),
		swapped("tab after the value", "image: "+webV1+"\t# tab\n"),
		swapped("no final newline", "image: "+webV1),
		swapped("flow mapping", "spec: {image: "+webV1+", b: c}\n"),
		swapped("two edits on one line", "a: [ "+webV1+" ,  '"+webV1+"' ]\n"),
		swapped("second document", "a: b\n---\n# c\nimage: "+webV1+"\n...\n"),
		swapped("directive", "%YAML 1.1\n---\nimage: "+webV1+"\n...\n# end\n"),
		swapped("block scalar of one line", "image: >-\n  "+webV1+"\n"),
		swapped("literal of one line with an indicator", "image: |2-\n  "+webV1+"\nb: c\n"),
		swapped("tag", "image: !!str "+webV1+"\n"),
		swapped("tag and anchor", "image: &a !!str "+webV1+"\n"),
		swapped("emoji before the value", "{a: \"😀é\", image: "+webV1+"}\n"),
		swapped("JSON on one line", `{"a":[{"image":"`+webV1+`"}]}`),
		swapped("JSON, pretty", "{\n  \"a\": {\n    \"image\": \""+webV1+"\"\n  }\n}\n"),
		swapped("JSON with tabs", "{\n\t\"image\": \""+webV1+"\"\n}\n"),
		{name: "JSON escapes stay", before: `{"image":"quay.io\/acme\/web:v1"}`, after: `{"image":"quay.io\/acme\/web:v2"}`},
		swapped("several spaces and a tab after the colon", "a:    "+webV1+"\nb:\t"+webV1+"\n"),
		swapped("value on the next line", "image:\n  "+webV1+"\n"),
		swapped("value after a comment", "image: # note\n  "+webV1+"\n"),
		swapped("duplicate keys", "image: "+webV1+"\nimage: "+webV1+"\n"),
		swapped("a key image_tag that holds a reference", "image_tag: "+webV1+"\n"),
		swapped("argument", "args: [\"--image="+webV1+"\", --x]\n"),
		swapped("variable of an environment", "- IMAGE="+webV1+"\n"),
		swapped("scheme", "- docker://"+webV1+"\n- docker-image://"+webV1+"\n- oci://"+webV1+"\n"),
		swapped("option and scheme", "- --from=docker://"+webV1+"\n"),
		{name: "no-break space after the colon", before: "a: b\nimage:\u00a0" + webV1 + "\n", refused: "not valid YAML"},
		{name: "several lines", before: "note: >-\n  image " + webV1 + "\n  is old\n"},
		{name: "comment", before: "# image: " + webV1 + "\na: b # " + webV1 + "\n"},
		{name: "sentence with an equals sign", before: "a: docker run --image=" + webV1 + "\n"},
		{name: "key", before: webV1 + "/x: y\n? " + webV1 + "\n: z\n"},
		{name: "longer name", before: "image: quay.io/acme/web-b:v1\n"},
		{name: "name below another host", before: "image: x.io/quay.io/acme/web:v1\n"},
		{name: "name of Docker Hub", before: "image: acme/web:v1\n"},
		{name: "present version", before: "image: " + webV2 + "\n"},
		{name: "no version", before: "image: quay.io/acme/web\n"},
		{name: "variable", before: "image: quay.io/acme/web:${TAG}\n", refused: "file.yaml:1: the version is a variable"},
		{name: "variable of Kubernetes", before: "image: quay.io/acme/web:v$(TAG)\n", refused: "the version is a variable"},
		{name: "variable with Flux's default", before: "image: quay.io/acme/web:${TAG:=v1}\n", refused: "the version is a variable (quay.io/acme/web:${TAG:=v1})"},
		{name: "option with a default", before: "- --image=quay.io/acme/web:${TAG:=v1}\n", refused: "the version is a variable"},
		{name: "registry with a default", before: "image: ${REGISTRY:=quay.io}/acme/web:v1\n", after: "image: ${REGISTRY:=quay.io}/acme/web:v2\n"},
		{name: "registry with Compose's default", before: "image: ${REGISTRY:-quay.io}/acme/web:v1\n", after: "image: ${REGISTRY:-quay.io}/acme/web:v2\n"},
		{name: "reference with a default", before: "image: ${IMAGE:-" + webV1 + "}\n", refused: "variable"},
		{name: "another registry with a default", before: "image: ${REGISTRY:-docker.io}/acme/web:v1\n"},
		{name: "name with a default and no version", before: "image: ${IMAGE:-quay.io/acme/web}\n"},
		{name: "registry without a default", before: "image: ${REGISTRY}/acme/web:v1\n"},
		{name: "broken digest", before: "image: quay.io/acme/web:v1@sha256:bad\n", refused: "starts like a reference to quay.io/acme/web but is not one"},
		{name: "list in one value", before: "value: " + webV1 + "," + webV1 + "\n", refused: "starts like a reference"},
		{name: "pattern of a policy", before: "image: quay.io/acme/web:*\n"},
		{name: "constraint of Argo CD's image updater", before: "argocd-image-updater.argoproj.io/image-list: web=quay.io/acme/web:~1.2\n"},
		{name: "loose constraint of Argo CD's image updater", before: "argocd-image-updater.argoproj.io/image-list: web=quay.io/acme/web:1.x\n"},
		{name: "web address", before: "link: https://" + webV1 + "\n"},
		{name: "tag of another type", before: "image: !!int " + webV1 + "\n", refused: "makes the value something other than text"},
	})
}

func TestReference_pin(t *testing.T) {
	t.Parallel()
	both, tag, digest := "image: quay.io/acme/web:v1@"+digest1+"\n", "image: "+webV1+"\n", "image: quay.io/acme/web@"+digest1+"\n"
	newBoth, newTag, newDigest := "image: quay.io/acme/web:v2@"+digest2+"\n", "image: "+webV2+"\n", "image: quay.io/acme/web@"+digest2+"\n"
	checkShapes(t, []shapeCase{
		{name: "keep both", before: both, after: newBoth, pin: image.PinKeep},
		{name: "keep the tag", before: tag, after: newTag, pin: image.PinKeep},
		{name: "keep the digest", before: digest, after: newDigest, pin: image.PinKeep},
		{name: "tag from both", before: both, after: newTag, pin: image.PinTag},
		{name: "tag from a digest", before: digest, after: newTag, pin: image.PinTag},
		{name: "digest from both", before: both, after: newDigest, pin: image.PinDigest},
		{name: "digest from a tag", before: tag, after: newDigest, pin: image.PinDigest},
		{name: "both from a tag", before: tag, after: newBoth, pin: image.PinTagDigest},
		{name: "both from a digest", before: digest, after: newBoth, pin: image.PinTagDigest},
	})
}

func TestReference_aliases(t *testing.T) {
	t.Parallel()
	checkShapes(t, []shapeCase{
		{
			name: "anchor is edited once and its alias reported", before: "a: &i " + webV1 + "\nb: *i\n", after: "a: &i " + webV2 + "\nb: *i\n",
			noted: "file.yaml:2:4: *i changes along with its anchor &i in line 1",
		},
		{
			name: "alias of a mapping around it", before: "a: &m\n  image: " + webV1 + "\nb:\n  <<: *m\n", after: "a: &m\n  image: " + webV2 + "\nb:\n  <<: *m\n",
			noted: "file.yaml:4:7: *m changes along",
		},
		{
			name: "anchor defined twice", before: "a: &i " + webV1 + "\nb: &i other\nc: *i\n", after: "a: &i " + webV2 + "\nb: &i other\nc: *i\n",
		},
	})
}

// TestReference_shortNames follows redis on Docker Hub, whose name is also a
// host name.
func TestReference_shortNames(t *testing.T) {
	t.Parallel()
	for before, refused := range map[string]string{
		"value: redis:6379,redis-b:6379\n":     "",
		"value: redis:$(REDIS_PORT)\n":         "",
		"value: redis:${REDIS_PORT}\n":         "",
		"value: redis:secret@db\n":             "",
		"value: redis://redis:6379/0\n":        "",
		"image: redis:${TAG}\n":                "the version is a variable",
		"args: [\"--image=redis:$(TAG)\"]\n":   "the version is a variable",
		"value: redis:7.2@sha256:misspelled\n": "starts like a reference to redis but is not one",
	} {
		t.Run(before, func(t *testing.T) {
			t.Parallel()
			checkHub(t, before, before, refused)
		})
	}
}
