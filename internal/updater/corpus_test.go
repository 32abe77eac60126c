package updater_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"promoter/internal/image"
)

// bump is one commit of the corpus: a file before and after, and the changed
// lines. Field names follow the corpus.
type bump struct {
	Dir    string `json:"dir"`
	Path   string `json:"path"`
	Strict bool   `json:"strict"`

	edits         []bumpEdit
	before, after []byte
}

// bumpEdit is one changed line. The image is recorded as extracted by the
// corpus: sometimes it is a tag or the word sha256 instead.
type bumpEdit struct {
	Old      string `json:"old"`
	New      string `json:"new"`
	OldToken string `json:"old_token"`
	NewToken string `json:"new_token"`
	Line     int    `json:"line"`
	Path     string `json:"path"`
	Image    string `json:"image"`
}

// Reasons why a commit is not usable as a test case.
var (
	errUnnamed     = errors.New("a changed line names no repository")
	errReplaced    = errors.New("a build replaces the tag")
	errTwoVersions = errors.New("one image gets two versions in one file")
	errTwoStyles   = errors.New("the commit changes the style of some references of an image and not of others")
)

// corpus returns the folder of the commits, or skips the test if there is none.
func corpus(t *testing.T) string {
	t.Helper()
	root := os.Getenv("PROMOTER_CORPUS")
	if root == "" {
		t.Skip("PROMOTER_CORPUS names no folder with the corpus of real commits")
	}
	return filepath.Join(root, "bumps")
}

func readBumps(t *testing.T) []bump {
	t.Helper()
	root := corpus(t)
	var bumps []bump
	readJSON(t, filepath.Join(root, "index.json"), &bumps)
	for i := range bumps {
		b, dir := &bumps[i], filepath.Join(root, bumps[i].Dir)
		var meta struct {
			Edits []bumpEdit `json:"edits"`
		}
		readJSON(t, filepath.Join(dir, "meta.json"), &meta)
		b.edits = meta.Edits
		b.before, b.after = readOne(t, filepath.Join(dir, "before.*")), readOne(t, filepath.Join(dir, "after.*"))
	}
	return bumps
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
}

func readOne(t *testing.T, pattern string) []byte {
	t.Helper()
	matches, err := filepath.Glob(pattern)
	if err != nil || len(matches) != 1 {
		t.Fatalf("%s: want one file, got %v", pattern, matches)
	}
	data, err := os.ReadFile(matches[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// bumpWish is the change that a commit made to one repository.
type bumpWish struct {
	version image.Version
	pin     image.Pin
}

// wishes determines the new version of each repository from the changed lines.
// It parses text and neighboring keys independently of the code under test.
func (b bump) wishes() (map[image.Repository]bumpWish, error) {
	wishes := map[image.Repository]bumpWish{}
	for _, line := range b.edits {
		if line.OldToken == "CONTAINER_IMAGES_TAG" {
			return nil, errReplaced
		}
		old, now, err := line.references(b)
		if err != nil {
			return nil, err
		}
		wish := bumpWish{version: image.Version{Tag: now.Tag, Digest: now.Digest}, pin: style(old, now)}
		if known, found := wishes[now.Repository]; found {
			if wish, err = known.merge(wish); err != nil {
				return nil, err
			}
		}
		wishes[now.Repository] = wish
	}
	return wishes, nil
}

// merge combines two changed lines of one image.
func (w bumpWish) merge(other bumpWish) (bumpWish, error) {
	if w.pin != other.pin {
		return w, errTwoStyles
	}
	for _, pair := range [][2]*string{{&w.version.Tag, &other.version.Tag}, {&w.version.Digest, &other.version.Digest}} {
		switch {
		case *pair[0] == "":
			*pair[0] = *pair[1]
		case *pair[1] != "" && *pair[0] != *pair[1]:
			return w, errTwoVersions
		}
	}
	return w, nil
}

// style returns the pin style that the commit used for the reference.
func style(old, now image.Reference) image.Pin {
	switch {
	case (old.Tag == "") == (now.Tag == "") && (old.Digest == "") == (now.Digest == ""):
		return image.PinKeep
	case now.Digest == "":
		return image.PinTag
	case now.Tag == "":
		return image.PinDigest
	default:
		return image.PinTagDigest
	}
}

var referenceText = regexp.MustCompile(`[A-Za-z0-9._/:@-]+`)

// references returns the reference before and after the commit.
func (e bumpEdit) references(b bump) (old, now image.Reference, err error) {
	before, after := e.around(e.Old, e.OldToken), e.around(e.New, e.NewToken)
	old, oldErr := image.Parse(before)
	now, nowErr := image.Parse(after)
	whole := before != e.OldToken && !image.ValidDigest(before)
	if whole && oldErr == nil && nowErr == nil && old.Repository == now.Repository {
		return old, now, nil
	}
	repository, found := e.neighbor(b.before)
	if !found {
		return old, now, errUnnamed
	}
	old, oldErr = versionText(repository, before)
	now, nowErr = versionText(repository, after)
	return old, now, errors.Join(oldErr, nowErr)
}

// around returns the text without spaces and quotes that contains the token.
func (e bumpEdit) around(line, token string) string {
	for _, word := range referenceText.FindAllString(line, -1) {
		if strings.HasSuffix(word, token) {
			return word
		}
	}
	return ""
}

// versionText parses TAG, DIGEST or TAG@DIGEST.
func versionText(repository, text string) (image.Reference, error) {
	if image.ValidDigest(text) {
		return image.Parse(repository + "@" + text)
	}
	return image.Parse(repository + ":" + text)
}

// neighbor returns the repository next to the changed scalar.
func (e bumpEdit) neighbor(data []byte) (string, bool) {
	segments := strings.Split(e.Path, ".")
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	for {
		var document yaml.Node
		if decoder.Decode(&document) != nil {
			return "", false
		}
		scalar, parent := lookUp(&document, segments)
		if scalar == nil || scalar.Line != e.Line {
			continue
		}
		return groupRepository(parent)
	}
}

// lookUp follows a path of the corpus, whose keys may contain dots.
func lookUp(node *yaml.Node, segments []string) (scalar, parent *yaml.Node) {
	for node.Kind == yaml.DocumentNode {
		node = node.Content[0]
	}
	if node.Kind == yaml.SequenceNode && len(segments) > 0 {
		index, err := strconv.Atoi(segments[0])
		if err != nil || index >= len(node.Content) {
			return nil, nil
		}
		return descend(node, node.Content[index], segments[1:])
	}
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		for n := 1; n <= len(segments); n++ {
			if node.Content[i].Value == strings.Join(segments[:n], ".") {
				if scalar, parent = descend(node, node.Content[i+1], segments[n:]); scalar != nil {
					return scalar, parent
				}
			}
		}
	}
	return nil, nil
}

func descend(parent, child *yaml.Node, rest []string) (*yaml.Node, *yaml.Node) {
	if len(rest) == 0 {
		return child, parent
	}
	return lookUp(child, rest)
}

// groupRepository returns the repository of a values group or image list entry.
func groupRepository(group *yaml.Node) (string, bool) {
	fields := map[string]string{}
	for i := 0; group != nil && i+1 < len(group.Content); i += 2 {
		fields[group.Content[i].Value] = group.Content[i+1].Value
	}
	for _, key := range []string{"newName", "repository", "image", "name"} {
		name := fields[key]
		if registry := fields["registry"]; registry != "" && name != "" {
			name = registry + "/" + name
		}
		if _, err := image.ParseRepository(name); err == nil {
			return name, true
		}
	}
	return "", false
}
