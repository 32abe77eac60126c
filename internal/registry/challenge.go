package registry

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// challenge is a way to log in that a registry offers in a WWW-Authenticate header.
type challenge struct {
	scheme     string            // in lower case
	parameters map[string]string // by name in lower case
}

// schemes are those that can be answered, the strongest first: a token is only for the repository.
var schemes = []string{"bearer", "basic"}

// challenges reads the challenges that can be answered from the values of WWW-Authenticate, the strongest first. Several may be in
// one value. What cannot be read ends that value. https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1
func challenges(values []string) (all []challenge) {
	for _, value := range values {
		rest := value
		for {
			var scheme string
			if scheme, rest = cutToken(strings.TrimLeft(rest, " \t,=")); scheme == "" { // a token68 ends with =
				break
			}
			made := challenge{scheme: strings.ToLower(scheme)}
			made.parameters, rest = cutParameters(rest)
			if slices.Contains(schemes, made.scheme) && (made.scheme != "bearer" || made.parameters["realm"] != "") {
				all = append(all, made)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b challenge) int {
		return slices.Index(schemes, a.scheme) - slices.Index(schemes, b.scheme)
	})
	return all
}

// cutParameters reads the parameters of a challenge, up to the next one.
func cutParameters(text string) (parameters map[string]string, rest string) {
	parameters = map[string]string{}
	for {
		name, after := cutToken(strings.TrimLeft(text, " \t,"))
		equals, found := strings.CutPrefix(strings.TrimLeft(after, " \t"), "=")
		if name == "" || !found {
			return parameters, text // the next challenge, or what belongs to none
		}
		value, after, valid := cutValue(strings.TrimLeft(equals, " \t"))
		if !valid {
			return parameters, ""
		}
		parameters[strings.ToLower(name)], text = value, after
	}
}

// cutValue reads a token or a quoted string.
func cutValue(text string) (value, rest string, valid bool) {
	quoted, isQuoted := strings.CutPrefix(text, `"`)
	if !isQuoted {
		value, rest = cutToken(text)
		return value, rest, true
	}
	var read strings.Builder
	for i := 0; i < len(quoted); i++ {
		switch c := quoted[i]; {
		case c == '"':
			return read.String(), quoted[i+1:], true
		case c == '\\' && i+1 < len(quoted):
			i++
			read.WriteByte(quoted[i])
		default:
			read.WriteByte(c)
		}
	}
	return "", "", false
}

// cutToken reads what is up to a separator.
func cutToken(text string) (token, rest string) {
	end := strings.IndexAny(text, " \t,=\"")
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:]
}

// header returns a header with this challenge alone.
func (c challenge) header() http.Header {
	var written []string
	for _, name := range slices.Sorted(maps.Keys(c.parameters)) {
		value := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(c.parameters[name])
		written = append(written, name+`="`+value+`"`)
	}
	return http.Header{"Www-Authenticate": {strings.TrimSpace(c.scheme + " " + strings.Join(written, ","))}}
}

// id identifies the way to log in, whatever the request was for.
func (c challenge) id() string {
	return c.scheme + " " + c.parameters["realm"] + " " + c.parameters["service"]
}
