package rest

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
)

type refusedError struct{ status int }

func (r *refusedError) Error() string { return "refused with canary" }

func answerOf(err error) (Answer, bool) {
	refused, ok := errors.AsType[*refusedError](err)
	if !ok {
		return Answer{}, false
	}
	return Answer{Status: refused.status, Kind: fault.Conflict, Words: "no", Advice: ": ask again"}, true
}

func TestExplain(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name   string
		err    error
		kind   fault.Kind
		text   string
		status int
	}{
		{"nothing", nil, "", "", 0},
		{"an answer", &refusedError{409}, fault.Conflict, "thing: Forge answered 409: no: ask again", 409},
		{"an answer in the words of net/http", &url.Error{Op: "Get", URL: "https://u:canary@h", Err: &refusedError{409}}, fault.Conflict, "thing: Forge answered 409: no: ask again", 409},
		{"a fault", fault.Limited(at, errors.New("later")), fault.RateLimited, "thing: later", 0},
		{"no JSON", &json.SyntaxError{}, fault.Temporary, "thing: the answer is not JSON, as when a proxy or a login page answers", 0},
		{"any other", errors.New("get https://u:canary@h/x: broken"), fault.Temporary, "thing: get https://h/x: broken", 0},
	} {
		err := Explain("Forge", "thing", test.err, answerOf)
		if test.err == nil {
			if err != nil {
				t.Errorf("%s: got %v", test.name, err)
			}
			continue
		}
		if fault.KindOf(err) != test.kind || err.Error() != test.text || StatusOf(err) != test.status || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: got %q %d: %v", test.name, fault.KindOf(err), StatusOf(err), err)
		}
		if _, ok := errors.AsType[*refusedError](err); ok {
			t.Errorf("%s: the answer itself is in the chain", test.name)
		}
	}
	if got, _ := fault.RetryAt(Explain("Forge", "thing", fault.Limited(at, errors.New("later")), answerOf)); !got.Equal(at) {
		t.Errorf("may be tried at %v", got)
	}
}
