package span

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestPlain_text tests plainIsText with plain scalars that YAML 1.1 and 1.2
// parsers interpret differently.
func TestPlain_text(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"1.10", "0123", "1e3", "yes", "null", "20240101", "1_000", "1:20", "1:20.5", "2024-01-02", "2024-01-02T10:00:00Z", "~", "",
		"No", "ON", "off", "y", "N", "True", "0x1F", "0o17", "0b101", "017", "1.", ".5", "1e+3", "-1", "+1", ".inf", "-.Inf", ".NaN",
		"<<", "=", "1_0.5", "12e4567", "0", "00", "190:20:30",
	} {
		if plainIsText(value) {
			t.Errorf("%q is taken for text", value)
		}
	}
	for _, value := range []string{
		"v1", "1.4.2", "1.4.2-rc.1", "2024.01.02", "20240101-abc", "main-0a1b2c3", "latest", "0123abc", "1.2.3.4", "1e3a", "_1",
		"sha256:" + strings.Repeat("1", 64), "quay.io/acme/web:1.10", "yes1", "1-2", "2024-01-02-rc",
	} {
		if !plainIsText(value) {
			t.Errorf("%q is not taken for text", value)
		}
	}
}

// TestPlain_parser checks with the parser that text is read as text.
func TestPlain_parser(t *testing.T) {
	t.Parallel()
	for i := range 20000 {
		value := strings.Trim(fmt.Sprintf("%x.%d", i*7919, i), "f")
		for _, value := range []string{value, strings.ReplaceAll(value, ".", ""), strings.ReplaceAll(value, ".", "e")} {
			var n yaml.Node
			if err := yaml.Unmarshal([]byte(value), &n); err != nil {
				t.Fatal(err)
			}
			if plainIsText(value) && n.Content[0].Tag != "!!str" {
				t.Fatalf("%q is %s", value, n.Content[0].Tag)
			}
		}
	}
}
