package shapes

import (
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/site"
	"promoter/internal/updater/span"
)

// shapeCommand is a whole reference among the words of a command, or of a list with spaces.
const shapeCommand edit.Shape = "command"

// commandKeys are keys whose text, or whose list of texts, is a command. Scripts under other keys may
// name an image for many reasons.
var commandKeys = []string{"command", "commands", "args", "arguments", "cmd", "entrypoint", "exec"}

// commandWord matches a word of a shell command, without the quotes and operators around it.
var commandWord = regexp.MustCompile("[^\\s\"'`;|&()<>{}\\[\\],]+")

// maxWords is how many references of a text are found, because each is compared with the others.
const maxWords = 64

// word is a reference among the words of a text.
type word struct {
	at        span.Span // of the reference, without what precedes it in the word
	followed  site.Followed
	reference image.Reference
}

// findCommand inspects the words of a command, and of a text of which each word is a
// reference. A word counts only as a whole reference with a slash: the others may be anything.
func findCommand(d *document, out *sink, n *yaml.Node) bool {
	value := d.scalar(n).Value()
	isCommand := slices.Contains(commandKeys, d.key()) || isList(value)
	if !isCommand || !strings.ContainsAny(value, " \t\n") || strings.HasPrefix(d.key(), imageUpdater) {
		return false
	}
	if !strings.Contains(value, "\n") {
		return findInWords(d, out, n)
	}
	return findInScript(d, out, n)
}

// findInWords inspects a text on one line.
func findInWords(d *document, out *sink, n *yaml.Node) bool {
	if _, err := d.stream.Span(n); err != nil {
		return false // a text on several lines, whose place is not certain
	}
	value := d.scalar(n).Value()
	words := wordsIn(d, value)
	for _, w := range words {
		out.addPart(site.NewReference(shapeCommand, d.scalar(n), w.followed, w.reference, value[:w.at.Start], value[w.at.End:]), d.key())
	}
	return len(words) > 0
}

// findInScript inspects a literal block: its values are the references among its words.
func findInScript(d *document, out *sink, n *yaml.Node) bool {
	var words []word
	script, err := d.stream.NestedText(n, func(s *span.Stream) []*yaml.Node {
		root := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		words = wordsIn(d, string(s.Data))
		for _, w := range words {
			root.Content = append(root.Content, s.TextNode(w.at))
		}
		return []*yaml.Node{{Kind: yaml.DocumentNode, Content: []*yaml.Node{root}}}
	})
	if err != nil || d.stream.Depth() >= maxNesting {
		return false
	}
	inner := *d
	inner.stream = script
	for i, value := range script.Documents[0].Content[0].Content {
		out.add(site.NewReference(shapeCommand, inner.scalar(value), words[i].followed, words[i].reference, "", ""), d.key())
	}
	return len(words) > 0
}

// wordsIn returns the whole references to followed repositories among the words of a text, outside
// of the comments of a shell.
func wordsIn(d *document, text string) []word {
	var found []word
	start := 0
	for line := range strings.Lines(text) {
		for _, at := range commandWord.FindAllStringIndex(line, -1) {
			if line[at[0]] == '#' && (at[0] == 0 || line[at[0]-1] == ' ' || line[at[0]-1] == '\t') {
				break
			}
			before, name, after := lex.CutReference(line[at[0]:at[1]])
			if after != "" || !strings.Contains(name, "/") {
				continue
			}
			if followed, reference, ok := followedReference(d, name, before); ok && len(found) < maxWords {
				from := start + at[0] + len(before)
				found = append(found, word{span.Span{Start: from, End: from + len(name)}, followed, reference})
			}
		}
		start += len(line)
	}
	return found
}

// isList reports whether every word of a text is a reference with a version.
func isList(text string) bool {
	words := strings.Fields(text)
	for _, w := range words {
		reference, err := image.Parse(w)
		if err != nil || !strings.Contains(w, "/") || reference.Tag == "" && reference.Digest == "" {
			return false
		}
	}
	return len(words) > 1
}
