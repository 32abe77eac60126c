package span

import (
	"fmt"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// format formats a value in the current style of the scalar. A plain scalar is
// quoted if some parser would not read the value as text or if it is not safe
// without quotes.
func format(n *yaml.Node, raw, value string) (string, error) {
	switch {
	case strings.ContainsFunc(value, isUnprintable):
		return "", fmt.Errorf("the value %.120q cannot be written on one line", value)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return formatBlock(value)
	case n.Style&yaml.SingleQuotedStyle != 0:
		return "'" + strings.ReplaceAll(value, "'", "''") + "'", nil
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return formatDouble(raw, n.Value, value), nil
	case (plainIsSafe(value) || plainStaysSafe(n.Value, value)) && (n.Style&yaml.TaggedStyle != 0 || plainIsText(value)):
		return value, nil
	default:
		return quoteDouble(value), nil
	}
}

// formatBlock formats the single line of a block scalar.
func formatBlock(value string) (string, error) {
	if value == "" || isBlank(value[0]) || isBlank(value[len(value)-1]) {
		return "", fmt.Errorf("the value %.120q cannot be the text of a block scalar", value)
	}
	return value, nil
}

// formatDouble formats a double-quoted scalar and keeps the escapes in the unchanged
// prefix, such as JSON's \/.
func formatDouble(raw, old, value string) string {
	same := 0
	for same < len(old) && same < len(value) && old[same] == value[same] {
		same++
	}
	tail := old[same:] + `"`
	if !strings.Contains(raw, `\`) || strings.Contains(tail, `\`) || !strings.HasSuffix(raw, tail) {
		return quoteDouble(value)
	}
	return strings.TrimSuffix(raw, tail) + quoteDouble(value[same:])[1:]
}

// quoteDouble formats a double-quoted scalar that is valid in YAML and JSON.
func quoteDouble(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

func isUnprintable(r rune) bool {
	return r < ' ' || r == 0x7F || r == 0xFEFF || r == 0xFFFD || isWideBreak(r)
}

// Plain scalars that a YAML 1.1 or 1.2 parser does not read as text. Sources:
// the YAML 1.1 types (bool, int, float, null, timestamp, merge, value) as
// implemented by PyYAML, the YAML 1.2 core schema, and Go's parser, which
// accepts underscores in all numbers.
var (
	numberLike = regexp.MustCompile(`^[-+]?(0[bB][01_]+|0[oO]?[0-7_]+|0[xX][0-9a-fA-F_]+|` +
		`[0-9][0-9_]*(:[0-9_]+)*(\.[0-9_]*)?([eE][-+]?[0-9_]+)?|` +
		`\.[0-9_]+([eE][-+]?[0-9_]+)?|\.(inf|Inf|INF))$`)
	dateLike = regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?$`)
)

// plainIsText reports whether every parser reads the plain scalar as text.
func plainIsText(s string) bool {
	switch strings.ToLower(s) {
	case "", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "<<", "=", ".nan":
		return false
	}
	return !numberLike.MatchString(s) && !dateLike.MatchString(s)
}

// plainIsSafe reports whether the text is valid as a plain scalar in any
// context: in block and flow collections, and as a mapping value. It allows
// only the characters used in references, tags, digests and options.
func plainIsSafe(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '/':
		case i > 0 && strings.IndexByte(".+=@~^-$?&%*!", c) >= 0:
		case c == ':' && i > 0 && i < len(s)-1:
		case c == '-' && i < len(s)-1, c == '.':
		default:
			return false
		}
	}
	return s != "" && s != "---" && s != "..."
}

// plainStaysSafe reports whether the new text is a valid plain scalar where the
// old one was: both have the same start and end, and the new part between
// contains only safe characters, and single spaces if the old one has spaces.
func plainStaysSafe(old, value string) bool {
	before, after := 0, 0
	for before < len(old) && before < len(value) && old[before] == value[before] {
		before++
	}
	for after < len(old)-before && after < len(value)-before && old[len(old)-1-after] == value[len(value)-1-after] {
		after++
	}
	middle := value[before : len(value)-after]
	if before == 0 || strings.TrimSpace(middle) != middle || strings.Contains(middle, " ") && !strings.Contains(old, " ") {
		return false
	}
	for word := range strings.SplitSeq(middle, " ") {
		if !plainIsSafe("a"+word+"a") || strings.HasSuffix(word, ":") {
			return false
		}
	}
	return true
}
