package giteatest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"promoter/internal/scm/forgetest"
)

// Recorded are exchanges with a real Gitea, with which a Server compares what it sends.
type Recorded struct {
	Exchanges map[string][]Exchange // by file, such as "api/releases"
	shapes    map[string]*shape     // of responses, by route and status
	headers   map[string]*headers   // by route and status
	messages  map[string][]string   // of refusals, by route and status
}

// Exchange is one request to a real Gitea and its response.
type Exchange struct {
	Number   int               `json:"n"`
	As       string            `json:"as"`
	Method   string            `json:"method"`
	Path     string            `json:"path"`
	Query    string            `json:"query"`
	Request  json.RawMessage   `json:"request"`
	Status   int               `json:"status"`
	Headers  map[string]string `json:"headers"`
	Response json.RawMessage   `json:"response"`
}

// shape is the type of JSON values that were recorded at one position.
type shape struct {
	kinds    map[string]bool
	keys     map[string]*shape // of objects
	required map[string]bool   // keys that every complete object has
	element  *shape            // of lists
}

// headers count in how many responses a header was.
type headers struct {
	responses int
	with      map[string]int
}

// comparedHeaders are those that a client depends on.
var comparedHeaders = []string{"Link", "X-Total-Count", "Location"}

// ReadRecorded reads the folders api and stories of a directory, once per process.
var ReadRecorded = sync.OnceValues(func() (*Recorded, error) { return readRecorded(os.Getenv("PROMOTER_CORPUS")) })

// readRecorded returns nil without a directory.
func readRecorded(corpus string) (*Recorded, error) {
	files, err := filepath.Glob(filepath.Join(corpus, "gitea", "*", "*.jsonl"))
	if corpus == "" || len(files) == 0 {
		return nil, err
	}
	r := &Recorded{Exchanges: map[string][]Exchange{}, shapes: map[string]*shape{}, headers: map[string]*headers{}, messages: map[string][]string{}}
	routes := forgetest.NewRoutes(endpoints())
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // a file of the corpus
		if err != nil {
			return nil, err
		}
		folder := filepath.Base(filepath.Dir(file))
		name := folder + "/" + strings.TrimSuffix(filepath.Base(file), ".jsonl")
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var one Exchange
			if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			r.Exchanges[name] = append(r.Exchanges[name], one)
			if err := r.learn(routes, one, folder == "api"); err != nil {
				return nil, fmt.Errorf("%s, exchange %d: %w", file, one.Number, err)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return r, nil
}

// learn adds one exchange. Only complete ones have all keys.
func (r *Recorded) learn(routes forgetest.Routes[endpoint], one Exchange, complete bool) error {
	request, err := http.NewRequest(one.Method, strings.TrimPrefix(one.Path, prefix), nil) //nolint:noctx // is not sent
	if err != nil {
		return err
	}
	_, route, known := routes.Find(request)
	if !known {
		return nil
	}
	keys := []string{fmt.Sprintf("%s %d", route, one.Status)}
	if one.Status >= http.StatusMultipleChoices {
		keys = append(keys, fmt.Sprint(one.Status))
	}
	for _, key := range keys {
		if err := r.learnAs(key, one, complete); err != nil {
			return err
		}
	}
	return nil
}

func (r *Recorded) learnAs(key string, one Exchange, complete bool) error {
	if r.headers[key] == nil {
		r.headers[key], r.shapes[key] = &headers{with: map[string]int{}}, newShape()
	}
	r.headers[key].responses++
	for name := range one.Headers {
		r.headers[key].with[http.CanonicalHeaderKey(name)]++
	}
	var value any
	if err := json.Unmarshal(one.Response, &value); err != nil {
		return err
	}
	r.shapes[key].learn(value, complete)
	if refusal, is := value.(object); is && one.Status >= http.StatusBadRequest {
		message, _ := refusal["message"].(string)
		r.messages[key] = append(r.messages[key], general(message))
	}
	return nil
}

// variable matches the parts of a message that differ between servers.
var variable = regexp.MustCompile(`'[^']*'|\[[^\]]*\]|[0-9]+|[\w.-]+/[\w.-]+|token scope=.*|^[\w-]+( is not allowed)|(commit doesn't exist: ).*`)

// general replaces names and numbers in a message.
func general(message string) string { return variable.ReplaceAllString(message, "?$1$2") }

func newShape() *shape {
	return &shape{kinds: map[string]bool{}, keys: map[string]*shape{}}
}

// completeElements is how many elements of a list were recorded completely.
const completeElements = 2

func (s *shape) learn(value any, complete bool) {
	s.kinds[kindOfValue(value)] = true
	switch value := value.(type) {
	case object:
		if complete && s.required == nil {
			s.required = map[string]bool{}
			for key := range value {
				s.required[key] = !strings.Contains(key, ".") // of the units of a team, not all are there
			}
		}
		for key := range s.required {
			if _, has := value[key]; complete && !has {
				delete(s.required, key)
			}
		}
		for key, inner := range value {
			if s.keys[key] == nil {
				s.keys[key] = newShape()
			}
			s.keys[key].learn(inner, complete)
		}
	case []any:
		if s.element == nil {
			s.element = newShape()
		}
		for i, inner := range value {
			s.element.learn(inner, complete && i < completeElements)
		}
	}
}

func kindOfValue(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "list"
	default:
		return "object"
	}
}

// notRecorded are routes of which no exchange was recorded, with one that answers with the same object, if any does, and the
// refusals in the source of Gitea.
// https://github.com/go-gitea/gitea/blob/v1.26.0/services/context/user.go
var notRecorded = map[string]struct { //nolint:gochecknoglobals // a table
	like    string
	refusal *regexp.Regexp
}{
	"GET /repos/{owner}/{repo}/activities/feeds":   {},
	"GET /repos/{owner}/{repo}/commits/{ref}/pull": {"GET /repos/{owner}/{repo}/pulls/{number}", regexp.MustCompile("^The target couldn't be found.$")},
	"GET /users/{username}":                        {"GET /user", regexp.MustCompile(`^user redirect does not exist \[name: .*\]$`)},
}

// compare returns how a response of the server differs from those that were recorded.
func (r *Recorded) compare(route string, answer *reply) []string {
	described, isDescribed := notRecorded[route]
	if isDescribed && described.like == "" && answer.Status < http.StatusMultipleChoices {
		return nil
	}
	key := fmt.Sprintf("%s %d", route, answer.Status)
	if isDescribed {
		key = fmt.Sprintf("%s %d", described.like, answer.Status)
	}
	recorded := r.headers[key]
	if recorded == nil && answer.Status >= http.StatusMultipleChoices { // a redirect or a refusal is the same for all routes
		key = fmt.Sprint(answer.Status)
		recorded = r.headers[key]
	}
	if recorded == nil {
		return []string{"Gitea never answered with this status"}
	}
	var differences []string
	for _, name := range comparedHeaders {
		has := answer.Header.Get(name) != ""
		switch n := recorded.with[name]; {
		case has && n == 0:
			differences = append(differences, "Gitea sends no header "+name)
		case !has && n == recorded.responses:
			differences = append(differences, "Gitea always sends the header "+name)
		}
	}
	var value any
	if answer.Body != nil {
		text := answer.Text()
		if plain, is := answer.Body.(forgetest.Plain); is {
			if text, _ = json.Marshal(string(plain)); json.Valid([]byte(plain)) {
				text = []byte(plain)
			}
		}
		if err := json.Unmarshal(text, &value); err != nil {
			return append(differences, err.Error())
		}
	}
	differences = append(differences, r.shapes[key].compare("the body", value)...)
	if refusal, is := value.(object); is && answer.Status >= http.StatusBadRequest {
		message, _ := refusal["message"].(string)
		known := isDescribed && described.refusal != nil && described.refusal.MatchString(message) || slices.Contains(r.messages[key], general(message))
		if !known {
			differences = append(differences, fmt.Sprintf("Gitea never answered with the message %q, but with %q", message, slices.Compact(slices.Sorted(slices.Values(r.messages[key])))))
		}
	}
	return differences
}

func (s *shape) compare(at string, value any) (differences []string) {
	if len(s.kinds) == 1 && s.kinds["null"] { // the other type is unknown
		return nil
	}
	if kind := kindOfValue(value); !s.kinds[kind] {
		return []string{fmt.Sprintf("%s is a value of type %s, and never was: %v", at, kind, s.kinds)}
	}
	switch value := value.(type) {
	case object:
		for key, always := range s.required {
			if _, has := value[key]; always && !has {
				differences = append(differences, at+" lacks the key "+key)
			}
		}
		for key, inner := range value {
			if s.keys[key] == nil {
				differences = append(differences, at+" has no key "+key+" in Gitea")
				continue
			}
			differences = append(differences, s.keys[key].compare(at+"."+key, inner)...)
		}
	case []any:
		for _, inner := range value {
			if len(s.element.kinds) > 0 {
				differences = append(differences, s.element.compare(at+"[]", inner)...)
			}
		}
	}
	return differences
}
