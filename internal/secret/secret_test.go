package secret_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"promoter/internal/secret"
)

const canary = "canary-7f3a"

// forms are the ways in which a canary may show: as it is, in hex, quoted, as
// bytes or as Base64.
var forms = []string{canary, "canary", fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), "99 97 110 97 114 121", "Y2FuYXJ5"}

// holder keeps secrets in every kind of field. fmt does not call the methods of
// values in unexported fields.
type holder struct {
	Name     string
	Token    secret.String
	Pointer  *secret.String
	List     []secret.String
	ByName   map[string]secret.String
	Any      any
	token    secret.String
	pointer  *secret.String
	list     []secret.String
	embedded struct{ token secret.String }
}

func newHolder() holder {
	token := secret.New(canary)
	h := holder{
		Name: "registry", Token: token, Pointer: &token, List: []secret.String{token}, ByName: map[string]secret.String{"a": token},
		Any: token, token: token, pointer: &token, list: []secret.String{token},
	}
	h.embedded.token = token
	return h
}

func checkHidden(t *testing.T, road, text string) {
	t.Helper()
	for _, form := range forms {
		if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
			t.Errorf("%s shows the secret: %s", road, text)
		}
	}
}

func TestString_fmtNeverShowsTheCanary(t *testing.T) {
	t.Parallel()
	token := secret.New(canary)
	values := map[string]any{
		"value": token, "pointer": &token, "slice": []secret.String{token}, "map": map[string]secret.String{"a": token},
		"map key": map[secret.String]int{token: 1}, "holder": newHolder(), "pointer to holder": func() *holder { h := newHolder(); return &h }(),
	}
	for name, value := range values {
		for _, verb := range strings.Fields("%v %+v %#v %s %q %x %X %d %t %c %U %e %p %T %b %o %20v %-20s %.3s %+q %#x %z %w") {
			checkHidden(t, name+" by "+verb, fmt.Sprintf(verb, value))
		}
		checkHidden(t, name+" by Sprint", fmt.Sprint(value))
		checkHidden(t, name+" by Errorf", fmt.Errorf("sign in with %v: %w", value, io.EOF).Error())
	}
	if got := fmt.Sprintf("%s %v %q %x", token, token, token, token); got != "*** *** *** ***" {
		t.Errorf("got %q", got)
	}
}

func TestString_slogNeverShowsTheCanary(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	options := &slog.HandlerOptions{Level: slog.LevelDebug}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, options), slog.NewJSONHandler(&out, options)} {
		token, held := secret.New(canary), newHolder()
		logger := slog.New(handler).With(slog.Any("token", token))
		logger.Info("attributes", slog.Any("pointer", &token), slog.Any("any", slog.AnyValue(token)), slog.Any("list", []secret.String{token}))
		logger.Error("holders", slog.Any("value", held), slog.Any("pointer", &held), slog.Any("err", fmt.Errorf("with %v", held)))
		logger.Info("group", slog.Group("g", slog.Any("token", token)))
	}
	checkHidden(t, "slog", out.String())
	if !strings.Contains(out.String(), "token=***") || !strings.Contains(out.String(), `"token":"***"`) {
		t.Errorf("the place of the secret is not shown: %s", out.String())
	}
}

func TestString_encodingsNeverShowTheCanary(t *testing.T) {
	t.Parallel()
	held := newHolder()
	data, err := json.Marshal(&held)
	if err != nil {
		t.Fatal(err)
	}
	checkHidden(t, "JSON", string(data))
	data, err = json.Marshal(map[secret.String]string{secret.New(canary): "key"})
	if err != nil {
		t.Fatal(err)
	}
	checkHidden(t, "JSON key", string(data))
	data, err = xml.Marshal(secret.New(canary))
	if err != nil {
		t.Fatal(err)
	}
	checkHidden(t, "XML", string(data))
	text, err := secret.New(canary).MarshalText()
	if err != nil || string(text) != secret.Redacted {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestString_errorsNeverShowTheCanary(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("push: %w", fmt.Errorf("sign in as bot:%s: %w", secret.New(canary), errors.New("refused")))
	checkHidden(t, "errors", err.Error())
	if want := "push: sign in as bot:***: refused"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestString_panicNeverShowsTheCanary(t *testing.T) {
	t.Parallel()
	defer func() { checkHidden(t, "panic", fmt.Sprint(recover())) }()
	panic(secret.New(canary))
}

func TestString_Reveal(t *testing.T) {
	t.Parallel()
	if got := secret.New(canary).Reveal(); got != canary {
		t.Errorf("got %q", got)
	}
	if secret.New(canary).IsZero() || secret.New(canary).GoString() != secret.Redacted {
		t.Error("a secret is zero or shows itself")
	}
}

func TestString_absent(t *testing.T) {
	t.Parallel()
	for _, absent := range []secret.String{{}, secret.New("")} {
		if !absent.IsZero() || absent.Reveal() != "" || absent.String() != "" || fmt.Sprintf("%#v", absent) != "" {
			t.Errorf("an absent secret shows as %q", absent.String())
		}
	}
	if (secret.String{}) != secret.New("") {
		t.Error("two absent secrets differ")
	}
}
