package payload

import (
	"net/http"
	"testing"
)

func TestHostOf_dropsDefaultPorts(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://Git.example.com/acme/web": "git.example.com", "https://git.example.com:443/a": "git.example.com",
		"http://git.example.com:80": "git.example.com", "http://git.example.com:443/": "git.example.com:443",
		"https://git.example.com:3000/a": "git.example.com:3000", "https://ada:secret@git.example.com/a": "git.example.com",
		"https://[2001:db8::1]:443/a": "[2001:db8::1]", "zotregistry.dev": "", "": "", "://": "", "https://%zz": "",
	} {
		if got := HostOf(address); got != want {
			t.Errorf("%q is on %q, want %q", address, got, want)
		}
	}
}

func TestHostOf_theFirstURLWithAHost(t *testing.T) {
	t.Parallel()
	if got := HostOf("", "://", "//", "https://:443/a", "https://one.example/a", "https://two.example/a"); got != "one.example" {
		t.Errorf("got %q, want one.example", got)
	}
}

// A form without the field, or a body that is not a form in spite of its type, is passed on.
func TestRequest_payloadOfAForm(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ kind, body, want string }{
		{"application/json", `payload=1`, `payload=1`},
		{"application/x-www-form-urlencoded", `payload=%7B%7D`, `{}`},
		{"Application/X-WWW-Form-Urlencoded; charset=utf-8", `a=b&payload=%7B%7D`, `{}`},
		{"application/x-www-form-urlencoded", `{"a": 1}`, `{"a": 1}`},
		{"application/x-www-form-urlencoded", `payload=%zz`, `payload=%zz`},
		{"", `{}`, `{}`},
	} {
		r := Request{Header: http.Header{"Content-Type": {test.kind}}, Body: []byte(test.body)}
		if got := string(r.JSON()); got != test.want {
			t.Errorf("%s %s is %s, want %s", test.kind, test.body, got, test.want)
		}
	}
}
