package githubtest

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"promoter/internal/scm/forgetest"
)

// longestJWT is the maximum validity of an App's token from GitHub's current time.
const longestJWT = 10 * time.Minute

// authenticate identifies the credential of a request.
func (c *call) authenticate() *reply {
	text := forgetest.Bearer(c.r)
	switch {
	case c.r.Header.Get("Authorization") == "":
		c.token = anonymous()
	case strings.Count(text, ".") == 2:
		return readJWT(c, text)
	default:
		if c.token = c.s.tokens[text]; c.token == nil || c.token.ended(c.s.hub.Front.Now()) {
			return refuse(http.StatusUnauthorized, "Bad credentials")
		}
		if refused := c.s.refuseLate(c.token, c.r.URL.Path); refused != nil {
			return refused
		}
	}
	return refuseInstallation(c)
}

// refuseLate refuses a token that not all servers know yet.
func (s *Server) refuseLate(of *token, path string) *reply {
	inRepository := strings.Contains(path, "/repos/")
	switch {
	case !s.hub.Front.Now().Before(of.known), s.lateAs == LateInRepositories && !inRepository:
		return nil
	case s.lateAs == LateUnauthorized:
		return refuse(http.StatusUnauthorized, "Bad credentials")
	default:
		return refuse(http.StatusNotFound, "Not Found")
	}
}

// ended reports whether the token of an installation has expired.
func (k *token) ended(now time.Time) bool {
	return k.installation != nil && (k.installation.removed || !now.Before(k.expires))
}

func refuseInstallation(c *call) *reply {
	i := c.token.installation
	switch {
	case i == nil:
		return nil
	case !i.suspended.IsZero():
		return refuse(http.StatusForbidden, "This installation has been suspended")
	case i.limit != nil && c.s.hub.Front.Now().Before(i.limit.until):
		return i.limit.reply(c.s.hub.Front.Now())
	}
	return nil
}

// readJWT validates an App's token as GitHub does, with its messages. The signature
// must be that of the App that it names.
func readJWT(c *call, text string) *reply {
	undecodable := refuse(http.StatusUnauthorized, "A JSON web token could not be decoded")
	var app *App
	read := jwt.MapClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation())
	_, err := parser.ParseWithClaims(text, read, func(*jwt.Token) (any, error) {
		issuer, _ := read["iss"].(string)
		for _, one := range c.s.apps {
			if issuer == strconv.FormatInt(one.id, 10) {
				app = one
				return &one.key.PublicKey, nil
			}
		}
		return nil, errNoApp
	})
	switch {
	case errors.Is(err, errNoApp):
		return refuse(http.StatusNotFound, "Integration not found")
	case err != nil:
		return undecodable
	}
	issued, err1 := read.GetIssuedAt()
	expires, err2 := read.GetExpirationTime()
	if err1 != nil || err2 != nil || issued == nil || expires == nil {
		return undecodable
	}
	c.token = &token{owner: app.bot, app: app}
	return judgeTimes(issued.Time, expires.Time, c.s.hub.Front.Now())
}

var errNoApp = errors.New("no App has this id")

func judgeTimes(issued, expires, now time.Time) *reply {
	switch {
	case expires.After(now.Add(longestJWT)):
		return refuse(http.StatusUnauthorized, "'Expiration time' claim ('exp') is too far in the future")
	case !expires.After(now):
		return refuse(http.StatusUnauthorized, "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
	case issued.After(now):
		return refuse(http.StatusUnauthorized, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
	}
	return nil
}

// asApp accepts only an App's own tokens.
func asApp(handle handler) handler {
	return func(c *call) *reply {
		if c.token.app == nil {
			return refuse(http.StatusUnauthorized, "A JSON web token could not be decoded")
		}
		return handle(c)
	}
}

// Asked is one request and its credential: the login of a user, "app SLUG",
// "installation ID", or empty without one.
type Asked struct {
	Route      string // "METHOD /route", or "GIT …"
	Repository string // OWNER/NAME as requested; empty: none in the route
	By         string
}

// Asked lists all requests so far.
func (s *Server) Asked() []Asked {
	var all []Asked
	s.act(func() { all = append(all, s.asked...) })
	return all
}

// name returns the owner of a credential.
func (k *token) name() string {
	switch {
	case k == nil:
		return "unknown"
	case k.app != nil:
		return "app " + k.app.slug
	case k.installation != nil:
		return "installation " + strconv.FormatInt(k.installation.id, 10)
	}
	return k.owner.Login
}

// repositoryOf returns the repository in the path of a request.
func repositoryOf(path string) string {
	rest, found := strings.CutPrefix(path, "/repos/")
	parts := strings.SplitN(rest, "/", 3)
	if !found || len(parts) < 2 {
		return ""
	}
	return parts[0] + "/" + parts[1]
}

// refuseApp rejects what an App's credential may not do, with GitHub's message. A
// route that Apps may not use at all, such as /user, is rejected likewise.
func refuseApp(c *call, either []string) *reply {
	if c.token.app != nil && !strings.Contains(c.route, "/app") && !strings.HasSuffix(c.route, "/installation") {
		return refuse(http.StatusForbidden, "Resource not accessible by integration")
	}
	if c.token.installation == nil {
		return nil
	}
	if either != nil && (len(either) == 0 || slices.ContainsFunc(either, c.token.permits)) {
		return nil
	}
	if either == nil && c.route != "GET /user" && !strings.Contains(c.route, "/app") && !strings.HasSuffix(c.route, "/installation") {
		c.s.t.Errorf("githubtest: which permission does %s need?", c.route)
	}
	answer := refuse(http.StatusForbidden, "Resource not accessible by integration")
	answer.Header.Set("X-Accepted-GitHub-Permissions", strings.Join(either, "; "))
	return answer
}

// permits reports whether the token of an installation has a permission, NAME=ACCESS.
func (k *token) permits(wanted string) bool {
	name, access, _ := strings.Cut(wanted, "=")
	held := k.permissions[name]
	if k.installation.permissions[name] == "" {
		return false // revoked since the token was created
	}
	return held == "write" || held == access
}
