package fault

import (
	"cmp"
	"encoding/json"
	"errors"
)

// JSON returns the error of a body that is not the expected JSON, without names of Go types.
func JSON(err error) error {
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return New(Invalid, "its JSON has an unexpected form: %s must not be of the type %s", cmp.Or(typed.Field, "all of it"), typed.Value)
	}
	return New(Invalid, "its body is not JSON: %w", err)
}
