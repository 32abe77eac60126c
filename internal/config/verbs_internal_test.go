package config

import (
	"reflect"
	"strings"
	"testing"

	"promoter/internal/verb"
)

func TestPermissionVerbsAreTheDecisions(t *testing.T) {
	t.Parallel()
	field, found := reflect.TypeFor[rawPermission]().FieldByName("Verbs")
	var want []string
	for _, v := range verb.Decisions() {
		want = append(want, string(v))
	}
	if got := field.Tag.Get("values"); !found || got != strings.Join(want, " ") {
		t.Errorf("permissions allow %q, the decisions are %q", got, want)
	}
}
