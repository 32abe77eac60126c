package webhook_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/secret"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
)

// sample is one payload of the corpus, which others made.
type sample struct {
	folder, name string
	body         []byte
	header       http.Header
	secret       string
	valid        bool
}

// samples reads the corpus.
func samples(t *testing.T) []sample {
	t.Helper()
	corpus := os.Getenv("PROMOTER_CORPUS")
	if corpus == "" {
		t.Skip("PROMOTER_CORPUS names no corpus")
	}
	found, err := filepath.Glob(filepath.Join(corpus, "webhooks", "*", "*.meta.json"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no samples below %s: %v", corpus, err)
	}
	var all []sample
	for _, meta := range found {
		all = append(all, readSample(t, strings.TrimSuffix(meta, ".meta.json")))
	}
	return all
}

func readSample(t *testing.T, base string) sample {
	t.Helper()
	var meta struct {
		Secret string `json:"secret"`
		Valid  bool   `json:"valid_json"`
	}
	data, err := os.ReadFile(base + ".meta.json")
	if err == nil {
		err = json.Unmarshal(data, &meta)
	}
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(base + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return sample{
		folder: filepath.Base(filepath.Dir(base)), name: filepath.Base(base), body: body,
		header: readHeaders(t, base+".headers"), secret: meta.Secret, valid: meta.Valid,
	}
}

func readHeaders(t testing.TB, file string) http.Header {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	for line := range strings.Lines(string(data)) {
		if name, value, found := strings.Cut(line, ":"); found {
			header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return header
}

const longSecret = "0123456789abcdef0123456789abcdef"

// receiver takes what the sender of a sample posts, as its entry would be written.
func (s sample) receiver(t *testing.T) *webhook.Receiver {
	t.Helper()
	options := webhook.Options{Name: "hook", Kind: s.folder, Credential: credential.Options{Secret: secret.New(s.secret)}}
	switch s.folder {
	case "dockerhub", "quay":
		options.Credential.Secret, options.Credential.PathSecret = secret.String{}, secret.New(longSecret)
	case "cloudevents":
		options.Kind, options.Credential.Header = "generic", "X-Webhook-Secret"
	case "ecr":
		options.Credential.Header = "X-Webhook-Secret"
	case "ghcr":
		options.Kind = "github"
	case "harbor":
		options.Credential.Header = "Authorization"
	case "acr": // whose samples have no credential
		options.Credential.Secret, options.Credential.Anonymous = secret.String{}, true
	}
	made, err := webhook.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Every sample of others is taken or refused for a reason; what is well formed and
// names an image or a repository hints at it.
func TestCorpus_decodesRealPayloads(t *testing.T) {
	t.Parallel()
	hints := map[string]int{}
	for _, s := range samples(t) {
		request := webhook.Request{Header: s.header, PathSecret: longSecret, Body: s.body}
		got, err := s.receiver(t).Receive(t.Context(), request)
		switch {
		case !s.valid && fault.KindOf(err) != fault.Invalid:
			t.Errorf("%s/%s is no JSON: %v", s.folder, s.name, err)
		case err != nil && fault.KindOf(err) != fault.Invalid:
			t.Errorf("%s/%s: %v", s.folder, s.name, err)
		case err == nil && (len(got.Events) == 0) != (got.Ignored != ""):
			t.Errorf("%s/%s: %d events, ignored for %q", s.folder, s.name, len(got.Events), got.Ignored)
		}
		hints[s.folder] += len(got.Events)
	}
	for folder, n := range hints {
		if n == 0 && folder != "jfrog" { // whose samples are nonsense on purpose
			t.Errorf("%s: no sample hints at anything", folder)
		}
	}
}

// One byte of a signed body that is another, and it is not from who it says.
func TestCorpus_refusesChangedPayloads(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		switch s.folder {
		case "github", "ghcr", "gitea", "jfrog":
		default:
			continue
		}
		body := bytes.Clone(s.body)
		if len(body) == 0 {
			continue
		}
		body[len(body)/2] ^= 1
		_, err := s.receiver(t).Receive(t.Context(), webhook.Request{Header: s.header, Body: body})
		if fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("%s/%s with a flipped byte: %v", s.folder, s.name, err)
		}
	}
}
