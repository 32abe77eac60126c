package updater_test

import "testing"

func TestRemote_formsOfTheURL(t *testing.T) {
	t.Parallel()
	const images = "images:\n  - name: quay.io/acme/web\n    newTag: v2\n"
	kustomization := func(list, url string) string { return list + ":\n  - " + url + "\n" + images }
	var cases []shapeCase
	for name, url := range map[string]string{
		"double slash":      "https://github.com/acme/web//config/default?ref=",
		"single slash":      "https://github.com/acme/web/config/default?ref=",
		"whole repository":  "https://github.com/acme/web?ref=",
		"with .git":         "https://github.com/acme/web.git//config?ref=",
		"without a scheme":  "github.com/acme/web//config?ref=",
		"scp form":          "git@github.com:acme/web.git//config?ref=",
		"ssh":               "ssh://git@github.com/acme/web//config?ref=",
		"prefix of a tool":  "git::https://github.com/acme/web//config?ref=",
		"user":              "https://user@github.com/acme/web//config?ref=",
		"upper-case host":   "https://GitHub.com/acme/web//config?ref=",
		"after other words": "https://github.com/acme/web//config?timeout=90s&ref=",
	} {
		cases = append(cases, shapeCase{
			name: "" + name, kinds: "remote-resource",
			before: kustomization("resources", url+commit1), after: kustomization("resources", url+commit2),
		})
	}
	cases = append(cases, shapeCase{
		name:   "before other words",
		before: kustomization("components", "https://github.com/acme/web//c?ref="+commit1+"&submodules=false # kept"),
		after:  kustomization("components", "https://github.com/acme/web//c?ref="+commit2+"&submodules=false # kept"),
	})
	checkShapes(t, cases)
}

func TestRemote_staysWhereItIsNotOurs(t *testing.T) {
	t.Parallel()
	const images = "images:\n  - name: quay.io/acme/web\n    newTag: v2\n"
	kustomization := func(url string) string { return "resources:\n  - " + url + "\n" + images }
	checkShapes(t, []shapeCase{
		{name: "branch", before: kustomization("https://github.com/acme/web//config?ref=main")},
		{name: "tag", before: kustomization("https://github.com/acme/web//config?ref=v1.0.0")},
		{name: "short commit", before: kustomization("https://github.com/acme/web//config?ref=1111111")},
		{name: "no ref", before: kustomization("https://github.com/acme/web//config")},
		{name: "another repository", before: kustomization("https://github.com/acme/web-extra//config?ref=" + commit1)},
		{name: "another owner", before: kustomization("https://github.com/other/web//config?ref=" + commit1)},
		{name: "another host", before: kustomization("https://gitlab.com/acme/web//config?ref=" + commit1)},
		{name: "a longer host", before: kustomization("https://evil-github.com/acme/web//config?ref=" + commit1)},
		{name: "another key", before: "urls:\n  - https://github.com/acme/web//config?ref=" + commit1 + "\n" + images},
		{name: "no image of it here", before: "resources:\n  - https://github.com/acme/web//config?ref=" + commit1 + "\nimages: []\n"},
		{
			name: "no revision known", refused: "commit that it was built from",
			before: "resources:\n  - https://github.com/acme/worker//config?ref=" + commit1 + "\nimages: [{name: quay.io/acme/worker, newTag: v2}]\n",
		},
		{
			name: "two images of one source", noted: "are both built from",
			before: "resources:\n  - https://github.com/acme/web//config?ref=" + commit1 + "\nimages: [{name: quay.io/acme/web, newTag: v2}, {name: quay.io/acme/sidecar, newTag: v2}]\n",
		},
	})
}

func TestRemote_imageAndResourceTogether(t *testing.T) {
	t.Parallel()
	checkShapes(t, []shapeCase{{
		name: "both in one pass", kinds: "remote-resource kustomize-images",
		before: "resources: [\"https://github.com/acme/web//config?ref=" + commit1 + "\"]\nimages: [{name: web, newName: quay.io/acme/web, newTag: v1}]\n",
		after:  "resources: [\"https://github.com/acme/web//config?ref=" + commit2 + "\"]\nimages: [{name: web, newName: quay.io/acme/web, newTag: v2}]\n",
	}})
}
