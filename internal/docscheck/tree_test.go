package docscheck

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// tree is a checkout with its documents read.
type tree struct {
	files     fs.FS
	documents map[string]document
	targets   map[string]bool // of the Makefile
	verbs     map[string]bool // of the command line
}

func load(files fs.FS) (tree, error) {
	t := tree{files: files, documents: map[string]document{}}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || name == "bin" || len(name) > 1 && strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(files, name)
		t.documents[name] = parse(string(text))
		return err
	})
	if err != nil {
		return tree{}, err
	}
	if t.targets, err = t.words(regexp.MustCompile(`(?m)^([a-z-]+):`), "Makefile"); err != nil {
		return tree{}, err
	}
	var sources []string
	for _, pattern := range []string{"internal/cli/*.go", "internal/cli/*/*.go"} {
		found, err := fs.Glob(files, pattern)
		if err != nil {
			return tree{}, err
		}
		sources = append(sources, found...)
	}
	if t.verbs, err = t.words(regexp.MustCompile(`\bUse:\s+"([a-z]+)[ "]`), sources...); err != nil {
		return tree{}, err
	}
	t.verbs["completion"] = true // cobra's own
	decisions, err := t.words(regexp.MustCompile(`\bnew(?:Decide|ImageDecision)\(system, verb\.(\w+)\)`), sources...)
	for name := range decisions {
		switch name {
		case "ConfirmState":
			name = "confirm-state"
		case "AdoptTimes": // seals adopt
			name = "adopt"
		}
		t.verbs[strings.ToLower(name)] = true
	}
	return t, err
}

// words collects what the first group of the expression finds in the files.
func (t tree) words(expression *regexp.Regexp, names ...string) (map[string]bool, error) {
	words := map[string]bool{}
	for _, name := range names {
		text, err := fs.ReadFile(t.files, name)
		if err != nil {
			return nil, err
		}
		for _, found := range expression.FindAllStringSubmatch(string(text), -1) {
			words[found[1]] = true
		}
	}
	return words, nil
}

// check returns one sentence for everything that does not hold.
func (t tree) check() []string {
	var broken []string
	for name, doc := range t.documents {
		for _, one := range doc.links {
			if why := t.objectToLink(name, one.target); why != "" {
				broken = append(broken, fmt.Sprintf("%s:%d: %s", name, one.line, why))
			}
		}
		for _, one := range doc.commands {
			if why := t.objectToCommand(one.text); why != "" {
				broken = append(broken, fmt.Sprintf("%s:%d: %s", name, one.line, why))
			}
		}
	}
	return broken
}

// objectToLink follows relative links; links to other hosts are not asked.
func (t tree) objectToLink(from, target string) string {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return ""
	}
	file, anchor, _ := strings.Cut(target, "#")
	name := from
	if file != "" {
		name = path.Join(path.Dir(from), file)
	}
	if _, err := fs.Stat(t.files, name); err != nil {
		return fmt.Sprintf("link to %s: there is no %s", target, name)
	}
	if doc, ok := t.documents[name]; anchor != "" && ok && !doc.anchors[anchor] {
		return fmt.Sprintf("link to %s: %s has no heading #%s", target, name, anchor)
	}
	return ""
}

// objectToCommand knows the commands that the documents may name: targets of
// the Makefile, verbs of promoter, and paths of this tree.
func (t tree) objectToCommand(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		program := path.Base(word)
		switch {
		case i == 0 && word == "make" && !t.targets[next]:
			return fmt.Sprintf("the Makefile has no target %q", next)
		case program == "promoter" && isVerb(next) && !t.verbs[next]:
			return fmt.Sprintf("promoter has no verb %q", next)
		case strings.HasPrefix(word, "./") && !t.exists(word):
			return fmt.Sprintf("there is no %s", word)
		}
	}
	return ""
}

// isVerb tells a verb from a flag and from a folder or file named promoter.
func isVerb(word string) bool {
	return regexp.MustCompile(`^[a-z]+$`).MatchString(word)
}

func (t tree) exists(word string) bool {
	name := strings.TrimSuffix(path.Clean(word), "/...")
	if name == "..." || strings.HasPrefix(name, "bin/") {
		return true // built by `make build`
	}
	_, err := fs.Stat(t.files, name)
	return err == nil
}
