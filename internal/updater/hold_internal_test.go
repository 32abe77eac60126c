package updater

import "testing"

// A comment on the line of a key does not change what the line has, and only what is rendered is unknown.
func TestHoldLine_ofATemplate(t *testing.T) {
	t.Parallel()
	holds := []Hold{{Key: "spec.suspend", Value: "true"}, {Key: "other", Value: "yes"}}
	const unknown = "(unknown)"
	for text, want := range map[string]string{
		`true`:                                "true",
		`"true"`:                              "true",
		`"true"  # owner {{ .team }}`:         "true",
		`'true' # {{- .team -}}`:              "true",
		`yes`:                                 "yes",
		`false # owner {{ .team }}`:           `false # owner {{ .team }}`,
		`"false" # "{{ .team }}"`:             `"false" # "{{ .team }}"`,
		`'it''s' # {{ .team }}`:               `'it''s' # {{ .team }}`,
		`"a \" b" # {{ .team }}`:              `"a \" b" # {{ .team }}`,
		`{{ .Values.suspend }}`:               unknown,
		`{{ .Values.suspend }} # true`:        unknown,
		`"{{ .Values.suspend }}"`:             unknown,
		`true{{ .x }}`:                        unknown,
		`no#{{ .x }}`:                         unknown,
		`"a # {{ .Values.suspend }}"`:         unknown,
		`'a # {{ .Values.suspend }}' # why`:   unknown,
		`"a \" # {{ .Values.suspend }}"`:      unknown,
		`'it''s # {{ .Values.suspend }}'`:     unknown,
		`"not closed # {{ .Values.suspend }}`: unknown,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, known := valueOfLine(text, "spec.suspend", holds)
			if !known {
				got = unknown
			}
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
