package updater

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// spell formats a value in the current style of the scalar. A plain scalar is
// quoted if some parser would not read the value as text or if it is not safe
// without quotes.
func spell(n *yaml.Node, raw, value string) (string, error) {
	switch {
	case strings.ContainsFunc(value, isUnprintable):
		return "", fmt.Errorf("the wanted value %q cannot be written on one line", shorten(value))
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return spellBlock(value)
	case n.Style&yaml.SingleQuotedStyle != 0:
		return "'" + strings.ReplaceAll(value, "'", "''") + "'", nil
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return respell(raw, n.Value, value), nil
	case (plainIsSafe(value) || plainStaysSafe(n.Value, value)) && (n.Style&yaml.TaggedStyle != 0 || plainIsText(value)):
		return value, nil
	default:
		return quoteDouble(value), nil
	}
}

// spellBlock formats the single line of a block scalar.
func spellBlock(value string) (string, error) {
	if value == "" || isBlank(value[0]) || isBlank(value[len(value)-1]) {
		return "", fmt.Errorf("the wanted value %q cannot stand in a block scalar", shorten(value))
	}
	return value, nil
}

// respell formats a double-quoted scalar and keeps the escapes in the unchanged
// prefix, such as JSON's \/.
func respell(raw, old, value string) string {
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
