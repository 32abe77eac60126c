package scan

import "testing"

func TestTagOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file, content string
		want                string // the position, the key, and the tag
	}{
		{"three keys", "tags/dev/web", "image_tag: v749 # by hand\npromote_deployment: true\n", "tags/dev/web:1:12 image_tag v749"},
		{"JSON", "web.json", "{\n  \"imageTag\": \"1.2.3\",\n  \"enabled\": false\n}\n", "web.json:2:16 imageTag 1.2.3"},
		{"quotes and comments", "web.yaml", "---\n# The tag\ntag: '1.2'\n", "web.yaml:3:7 tag 1.2"},
		{"an image beside it", "web.yaml", "repository: quay.io/acme/web\ntag: 1.2.3\n", ""},
		{"a mapping below", "web.yaml", "image:\n  tag: 1.2.3\n", ""},
		{"two tags", "web.yaml", "tag: 1.2.3\nimage-tag: 1.2.4\n", ""},
		{"no tag", "web.yaml", "replicas: 3\n", ""},
		{"not a tag", "web.yaml", "tag: a/b\n", ""},
		{"a list", "web.yaml", "tag: 1.2.3\n- a\n", ""},
		{"another kind of file", "web.toml", "tag: 1.2.3\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if r, ok := tagOf(test.file, []byte(test.content)); ok {
				got = r.Position.String() + " " + r.Key + " " + r.Tag
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
