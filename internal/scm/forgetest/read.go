package forgetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Read decodes the JSON body of a request strictly. An unknown key fails the test,
// and so does text that was truncated in the middle of a character. On error, the
// request is to be rejected.
func (f *Front) Read(route string, body []byte, into any) error {
	if !utf8.Valid(body) || bytes.Contains(body, []byte(`\ufffd`)) || bytes.ContainsRune(body, utf8.RuneError) {
		f.t.Errorf("%s: %s: the body is no whole text: %.200q", f.fake.Name, route, body)
	}
	err := decode(body, into)
	if err != nil {
		f.t.Errorf("%s: %s: body %s: %v", f.fake.Name, route, body, err)
	}
	return err
}

func decode(body []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("JSON: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}
