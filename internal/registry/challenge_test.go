package registry

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/image"
)

func TestChallenges_readsEachOfAHeader(t *testing.T) {
	t.Parallel()
	bearer := `Bearer realm="https://r/token",service="s"`
	const asBearer, asBasic = "bearer realm=https://r/token service=s", "basic realm=lab"
	for value, want := range map[string][]string{
		"":                                   nil,
		"Negotiate":                          nil,
		"Basic":                              {"basic"},
		`Basic realm="lab"`:                  {asBasic},
		`BASIC Realm=lab`:                    {asBasic},
		bearer:                               {asBearer},
		`Basic realm="lab", ` + bearer:       {asBearer, asBasic},
		bearer + `, Basic realm="lab"`:       {asBearer, asBasic},
		`Negotiate dG9r==, ` + bearer:        {asBearer},
		`Digest qop="a,b" , Basic realm=lab`: {asBasic},
		`Bearer service="s"`:                 nil,
		`Bearer realm = "https://r/token" , service = s`:           {asBearer},
		`Basic realm="a \"b\" , Bearer realm=c"`:                   {`basic realm=a "b" , Bearer realm=c`},
		`Basic realm="lab`:                                         {"basic"},
		bearer + `,scope="repository:a:pull",error="insufficient"`: {asBearer + " error=insufficient scope=repository:a:pull"},
		",, " + bearer + ",":                                       {asBearer},
	} {
		var got []string
		for _, one := range challenges([]string{value}) {
			text := one.scheme
			for _, name := range []string{"realm", "service", "error", "scope"} {
				if value, is := one.parameters[name]; is {
					text += " " + name + "=" + value
				}
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", value, diff)
		}
	}
}

func FuzzChallenges(f *testing.F) {
	f.Add(`Basic realm="lab", Bearer realm="https://r/token",service="a \"b\""`)
	f.Fuzz(func(t *testing.T, value string) {
		for _, one := range challenges([]string{value}) {
			again := challenges(one.header()["Www-Authenticate"])
			if len(again) != 1 || again[0].id() != one.id() {
				t.Errorf("%q is written as %q", value, one.header())
			}
		}
	})
}

// What a request is refused with decides how to log in: each way that a registry offers is tried once, the strongest first.
func TestCredential_answersTheChallengeOfTheRequest(t *testing.T) {
	t.Parallel()
	const basic = `Basic realm="acme"`
	for name, test := range map[string]struct {
		ping    int      // status; 401 is with the challenges
		offers  []string // values of the header, with $HOST
		broken  bool     // the token service refuses
		bearer  bool     // what is accepted
		refused bool     // in the end
	}{
		"one header, token":             {ping: 401, offers: []string{basic + `, Bearer realm="http://$HOST/token",service="acme"`}, bearer: true},
		"two headers, token":            {ping: 401, offers: []string{basic, `Bearer realm="http://$HOST/token",service="acme"`}, bearer: true},
		"the token service refuses":     {ping: 401, offers: []string{`Bearer realm="http://$HOST/token"`, basic}, broken: true},
		"the token is refused":          {ping: 401, offers: []string{`Bearer realm="http://$HOST/token"`, basic}},
		"an open ping, token":           {ping: 200, offers: []string{`Bearer realm="http://$HOST/token"`}, bearer: true},
		"an open ping, basic":           {ping: 200, offers: []string{basic}},
		"no ping, token":                {ping: 404, offers: []string{`Bearer realm="http://$HOST/token"`}, bearer: true},
		"no ping, basic":                {ping: 404, offers: []string{basic}},
		"a scheme that is not known":    {ping: 401, offers: []string{"Negotiate", basic}},
		"nothing that can be answered":  {ping: 200, offers: []string{"Negotiate"}, bearer: true, refused: true},
		"a wrong challenge of the ping": {ping: 401, offers: []string{basic}, bearer: true, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newAuthFake(t)
			f.push(t, "tenant-b/web", "1.0.0")
			f.bearer = test.bearer
			requests := 0
			f.answer = func(w http.ResponseWriter, r *http.Request) bool {
				requests++
				switch {
				case r.URL.Path == "/v2/" && test.ping != http.StatusUnauthorized:
					w.WriteHeader(test.ping)
					return true
				case r.URL.Path == "/token" && test.broken:
					w.WriteHeader(http.StatusUnauthorized)
					return true
				}
				return f.guard(offering{w, test.offers, f.host}, r)
			}
			c := newClient(t, Options{Credentials: []Credential{f.credential("**")}})
			ref := image.Reference{Repository: f.repository(t, "tenant-b/web"), Tag: "1.0.0"}
			_, err := c.For("a/1").Resolve(t.Context(), ref)
			if (err != nil) != test.refused || test.refused && fault.KindOf(err) != fault.Unauthorized {
				t.Fatalf("err = %v", err)
			}
			if requests > 8 {
				t.Errorf("%d requests", requests)
			}
			requests = 0
			if _, err := c.For("a/1").Resolve(t.Context(), ref); err == nil && requests > 1 {
				t.Errorf("the second time %d requests", requests)
			}
		})
	}
}

// offering replaces the challenge of a response.
type offering struct {
	http.ResponseWriter
	offers []string
	host   string
}

// WriteHeader implements http.ResponseWriter.
func (o offering) WriteHeader(status int) {
	if status == http.StatusUnauthorized {
		o.Header().Del("WWW-Authenticate")
		for _, one := range o.offers {
			o.Header().Add("WWW-Authenticate", strings.ReplaceAll(one, "$HOST", o.host))
		}
	}
	o.ResponseWriter.WriteHeader(status)
}

// Without a credential, a registry whose ping is open may still want an anonymous token for a repository.
func TestCredential_anonymousTokenAfterAnOpenPing(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/v2/":
			return false
		case r.URL.Path == "/token":
			_, _ = fmt.Fprint(w, `{"token":"anonymous"}`)
		case r.Header.Get("Authorization") == "Bearer anonymous":
			return false
		default:
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",scope="repository:acme/web:pull"`, f.host))
			w.WriteHeader(http.StatusUnauthorized)
		}
		return true
	}
	c := newClient(t, Options{})
	for range 2 {
		if _, err := c.For("a/1").Resolve(t.Context(), image.Reference{Repository: f.repository(t, "acme/web"), Tag: "1.0.0"}); err != nil {
			t.Error(err)
		}
	}
}
