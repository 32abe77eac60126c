package updater

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"promoter/internal/benchtree"
)

// quickSeeds are streams that quick reads, or gives up on for a reason.
var quickSeeds = []string{
	"a: b\n", "a:\n  b: c\n", "a:\n- b\n- c: d\n  e: f\n", "a:\n  - b\n", "- a\n- b\n", "a:\nb: c\n", "a:\n",
	"a: {b: c, d: [e, f]}\n", "a: []\nb: {}\n", "a: \"b\" # c\n", "a: 'b'\n", "\"a\": b\n", "a: |\n  b\n  c\nd: e\n",
	"a: |-\n  b\n\n   c\n\nd: e\n", "a: |\n  # b\n  c\n# d\ne: f\n", "---\na: b\n---\nc: d\n", "a: b\n---\nc: d\n",
	"# a\n---\na: b\n", "a: b # c\n# d\n  # e\nf: g\n", "a: 1.10\nb: ~\nc: null\nd: yes\n", "a: b: c\n", "a: b\n c\n",
	"a: b\n c: d\n", "a: [b: c]\n", "a: {b}\n", "a: {\"b\":c}\n", "a: http://b:80/c\n", "a: [b:c, d]\n", "a:b\n", "a : b\n",
	"- - a\n", "-\n  a: b\n", "- a: b\n  c:\n  - d\n- e\n", "a: *b\n", "&a a: b\n", "!!str a: b\n", "? a\n: b\n",
	"a: \"b\\n\"\n", "a: 'b''c'\n", "a: >-\n  b\n", "a: |+\n  b\n", "a: |2\n   b\n", "<<: a\n", "%YAML 1.1\n---\na: b\n",
	"a: b\n...\n", "a: -b\n", "a: - b\n", "a: [-]\n", "a: #b\n", "a: b#c\n", "a:  b  \n", "a: \"b\"c\n", "a: \"b\"#c\n",
	"  a: b\n  c: d\n", "  a: b\nc: d\n", "a:\n    b: c\n  d: e\n", "a: |\n\n  b\n", "a: |\n  b\n    \n  c\n", "a: |\n  b", "a: ,b\n",
	"a: [b,]\n", "a: [b, c] d\n", "a: {b: c} # d\n", "a: [b #c\n", "a: ]\n", "---\n", "--- a\n", "---\n---\n", "a: b\n---\n", "a: 'b\n  c'\n",
	"a: \"\"\nb: ''\n", "\"\": a\n", "a: |\n  b\n c: d\n", "- a\nb: c\n", "a:\n- b\n  c\n", "a:\n  - b\n - c\n", "-a: b\n", "a: ?b\n", "=: a\n", "a: =\n",
	"a: {b: c, b: d}\n", "a: [[b], {c: d}]\n", "a: {? b: c}\n", "a: [\"b\": c]\n", "a: {b:c}\n", "a: [b:]\n", "a: {b: }\n", "a:\n  |\n  b\n", "a: b\n#c\n  d: e\n",
	"a: |\n  b\n ---\n", "a: |\n  b\n---\nc: d\n", "a:\n---\nb: c\n", "a: .\nb: ..\nc: ...\n", "a\n", "a: 'b' c\n", "null: a\n~: b\n", " ---\n0:", "null:\n", "a:\n  # b\nc: d\n",
}

func TestQuick_sameNodesAsTheFullParser(t *testing.T) {
	t.Parallel()
	for _, seed := range quickSeeds {
		compareQuick(t, []byte(seed))
	}
	for file := range benchtree.Small().Files() {
		if !compareQuick(t, file.Content) {
			t.Fatalf("%s is left to the full parser", file.Path)
		}
	}
}

func TestQuick_filesOfTheRepository(t *testing.T) {
	t.Parallel()
	read, total := 0, 0
	roots := []string{"../../testdata", "../../charts", os.Getenv("PROMOTER_CORPUS")}
	for _, root := range roots {
		if root == "" {
			continue
		}
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return filepath.SkipDir
			}
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			total++
			if compareQuick(t, content) {
				read++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d files were read by the quick parser", read, total)
}

func FuzzQuick(f *testing.F) {
	for _, seed := range quickSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 4096 {
			compareQuick(t, data)
		}
	})
}

// compareQuick says whether the quick parser read the stream. If it did, the full
// parser must have the same nodes.
func compareQuick(t *testing.T, data []byte) bool {
	t.Helper()
	text := newText(data)
	documents, ok := parseQuick(data, text.lines)
	if !ok {
		return false
	}
	want, err := parse(data)
	if err != nil {
		t.Fatalf("%q: the full parser refuses: %v", data, err)
	}
	if got, want := dump(documents), dump(want); got != want {
		t.Fatalf("%q:\nquick\n%s\nfull\n%s", data, got, want)
	}
	return true
}

// dump writes what the quick parser fills in of nodes.
func dump(nodes []*yaml.Node) string {
	var text strings.Builder
	for _, n := range nodes {
		dumpNode(&text, n, 0)
	}
	return text.String()
}

func dumpNode(text *strings.Builder, n *yaml.Node, depth int) {
	line, column := n.Line, n.Column
	if n.Kind == yaml.DocumentNode {
		line, column = 0, 0
	}
	fmt.Fprintf(text, "%*s%d %d:%d %d %q null=%t\n", depth, "", n.Kind, line, column, n.Style, n.Value, n.Tag == "!!null")
	for _, child := range n.Content {
		dumpNode(text, child, depth+1)
	}
}

// TestQuick_randomText puts pieces of YAML together at random: that finds more
// than changing bytes does.
func TestQuick_randomText(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"a", "b", ": ", ":", " ", "  ", "    ", "\n", "\n", "\n  ", "\n    ", "- ", "-", "# c", " #", "\"x\"", "'y'", "[", "]", "{", "}", ", ",
		"|", "|-", ">", "null", "~", "---\n", "...", "1", "k: v\n", "k:\n", "  k: v\n", "- v\n", "  - v\n", "- k: v\n", "? ", "!t ", "&x ", "*x", "%", "=", "<<", "\\", "@",
	}
	random := rand.New(rand.NewPCG(1, 2))
	read := 0
	for range 40_000 {
		var text strings.Builder
		for range 1 + random.IntN(14) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		if compareQuick(t, []byte(text.String())) {
			read++
		}
	}
	t.Logf("%d texts were read by the quick parser", read)
}
