package updater_test

import "testing"

func TestMarker(t *testing.T) {
	t.Parallel()
	checkShapes(t, []shapeCase{
		{name: "own mark", before: "tag: v1 # promoter: web\n", after: "tag: v2 # promoter: web\n", kinds: "marker"},
		{name: "own mark of a tag", before: "a: \"v1\" # promoter: web.tag\n", after: "a: \"v2\" # promoter: web.tag\n"},
		{name: "own mark of a digest", before: "a: " + digest1 + " # promoter: web.digest\n", after: "a: " + digest2 + " # promoter: web.digest\n"},
		{name: "own mark of a version", before: "a: 1.0.0 # promoter: chart.version\n", after: "a: 2.0.0+build.5 # promoter: chart.version\n"},
		{name: "Flux's mark", before: "tag: v1 # {\"$imagepolicy\": \"flux-system:web:tag\"}\n", after: "tag: v2 # {\"$imagepolicy\": \"flux-system:web:tag\"}\n"},
		{name: "Flux's mark of a digest", before: "a: " + digest1 + " # {\"$imagepolicy\": \"flux-system:web:digest\"}\n", after: "a: " + digest2 + " # {\"$imagepolicy\": \"flux-system:web:digest\"}\n"},
		{name: "Flux's mark of a name", before: "a: v1 # {\"$imagepolicy\": \"flux-system:web:name\"}\n"},
		swapped("Flux's mark of a reference", "image: "+webV1+" # {\"$imagepolicy\": \"flux-system:web\"}\n"),
		{
			name:   "reference of a mirror",
			before: "image: mirror.example.com/acme/web:v1 # promoter: web\n", after: "image: mirror.example.com/acme/web:v2 # promoter: web\n",
		},
		{
			name:   "tag and digest beside each other",
			before: "a: v1 # promoter: web.tag\nb: " + digest1 + " # promoter: web.digest\n", after: "a: v2 # promoter: web.tag\nb: " + digest2 + " # promoter: web.digest\n",
		},
		{name: "in a flow mapping", before: "a: {b: v1} # promoter: web\n", after: "a: {b: v2} # promoter: web\n"},
		{name: "another component than the value", before: "image: " + webV1 + " # promoter: worker\n", after: "image: " + webV2 + " # promoter: worker\n", refused: "the marker names worker and the value is of web"},
		{name: "unknown component", before: "a: v1 # promoter: other\n", noted: "the marker names other, which is not followed here"},
		{name: "in a string", before: "a: \"v1 # promoter: web\"\n"},
		{name: "ignored line", before: "image: " + webV1 + " # promoter: ignore\n"},
		{name: "ignored tag of a group", before: "repository: quay.io/acme/web\ntag: v1 # promoter: ignore\n"},
		{name: "ignore lifts a refusal", before: "image: quay.io/acme/web:${TAG} # promoter: ignore\n"},
		{name: "not a tag", before: "a: b c # promoter: web\n", refused: "is not a tag or digest"},
	})
}
