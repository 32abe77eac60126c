package rendered

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// What is shown instead of the value of a secret. There is no hash: it would allow to guess values.
const (
	notShown        = "(not shown)"
	notShownChanged = "(not shown: changed)"
	notDecoded      = "(not shown: seems to contain a Secret, and cannot be decoded)"
)

// maxEmbedding is how many texts with manifests can be in each other. What is deeper is not shown.
const maxEmbedding = 5

// minBase64 is less than what any Secret with a value is in base64, in bytes.
const minBase64 = 24

// lastApplied is the annotation in which kubectl keeps the whole object as JSON.
// https://kubernetes.io/docs/reference/labels-annotations-taints/#kubectl-kubernetes-io-last-applied-configuration
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// hiddenValue is a value that is not shown.
type hiddenValue struct {
	shown *yaml.Node // in the place of the value
	path  string     // where it is in its object
	value string
}

// embedded is manifests in a text, such as a value of a ConfigMap.
type embedded struct {
	text      *yaml.Node
	documents []*yaml.Node
}

// secrets is what is hidden in one object.
type secrets struct {
	hidden   []hiddenValue
	embedded []embedded // the outer ones first
}

// hider hides the values of secrets in one object.
type hider struct {
	resolver
	secrets
	isHidden map[*yaml.Node]bool
	path     []string // to the current value: the names of fields, and the index in sequences
	depth    int      // of embedded texts
}

// newHider returns the hider of one document, after others in which aliases repeated values.
func newHider(aliased int) *hider {
	known := resolver{origin: map[*yaml.Node]*yaml.Node{}, secret: map[*yaml.Node]bool{}, aliased: aliased}
	return &hider{resolver: known, isHidden: map[*yaml.Node]bool{}}
}

// hideIn hides the values of secrets in an object, which is a copy.
func (h *hider) hideIn(object *yaml.Node) error {
	if err := h.walk(object, false); err != nil {
		return err
	}
	// An alias in a Secret can repeat a value from where it is none of a secret.
	origins := map[*yaml.Node]bool{}
	for _, one := range h.hidden {
		origins[h.origin[one.shown]] = true
	}
	h.hideCopies(object, origins)
	for i, text := range h.embedded {
		for j, document := range text.documents {
			h.path = append(h.path[:0], "text "+strconv.Itoa(i), strconv.Itoa(j))
			h.hideCopies(document, origins)
		}
	}
	return nil
}

func (h *hider) hideCopies(n *yaml.Node, origins map[*yaml.Node]bool) {
	if n.Kind == yaml.ScalarNode && origins[h.origin[n]] && !h.isHidden[n] {
		h.hide(n, notShown)
	}
	for i, child := range n.Content {
		h.enter(stepTo(n, i))
		h.hideCopies(child, origins)
		h.leave()
	}
}

// enter and leave follow the path to a value.
func (h *hider) enter(step string) { h.path = append(h.path, step) }
func (h *hider) leave()            { h.path = h.path[:len(h.path)-1] }

// stepTo returns the step from a node to a child: of a value in a mapping, its key.
func stepTo(n *yaml.Node, i int) string {
	if n.Kind == yaml.MappingNode && i%2 == 1 {
		return scalarOf(n.Content[i-1])
	}
	return strconv.Itoa(i)
}

// walk hides the values of secrets below a node. About is whether the object is about secrets, such
// as a SealedSecret: its data is not shown wherever it is.
func (h *hider) walk(n *yaml.Node, about bool) error {
	switch n.Kind {
	case yaml.MappingNode:
		return h.walkMapping(n, about)
	case yaml.ScalarNode:
		if err := h.walkText(n, about); err != nil {
			return err
		}
		return h.walkBase64(n, about)
	}
	for i, child := range n.Content {
		h.enter(strconv.Itoa(i))
		if err := h.walk(child, about); err != nil {
			return err
		}
		h.leave()
	}
	return nil
}

func (h *hider) walkMapping(n *yaml.Node, about bool) error {
	secret := h.secret[n] || isSecret(n)
	object := isObject(n)
	list := false
	for _, kind := range fieldsOf(n, "kind") {
		name := nameIn(kind)
		about = about || strings.Contains(name, "secret")
		list = list || name == "secretlist"
	}
	patch := patchesSecret(n)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := nameIn(key)
		ofSecret := secret && name != "metadata" && !describes(name, value, object)
		ofData := about && slices.Contains([]string{"data", "stringdata", lastApplied}, name) && !namesValues(value)
		ofPatch := patch && (name == "patch" || name == "value") || name == "secretgenerator"
		unreadable := name == lastApplied && len(decoded(scalarOf(value))) == 0
		h.enter(scalarOf(key))
		switch {
		case key.Kind != yaml.ScalarNode: // such an object cannot be applied
			h.hideAll(value)
			h.enter("key")
			h.hideAll(key)
			h.leave()
		case ofSecret, ofData, ofPatch, unreadable:
			h.hideAll(value)
		default:
			if list && name == "items" {
				for _, item := range value.Content {
					h.secret[item] = true
				}
			}
			if err := h.walk(value, about || secret); err != nil {
				return err
			}
		}
		h.leave()
	}
	return nil
}

// isObject reports whether a mapping is an object, and not a reference to one.
func isObject(mapping *yaml.Node) bool {
	return slices.ContainsFunc([]string{"metadata", "data", "stringData"}, func(field string) bool {
		return len(fieldsOf(mapping, field)) > 0
	})
}

// describes reports whether a field of a mapping with the kind Secret describes the object, or
// names one as references do, and so is no value.
func describes(name string, value *yaml.Node, object bool) bool {
	fields := []string{"apiversion", "kind", "type", "immutable"}
	if !object {
		fields = append(fields, "name", "namespace", "group", "version",
			"key", "valueskey", "targetpath", "optional", "labelselector", "annotationselector")
	}
	return value.Kind == yaml.ScalarNode && slices.Contains(fields, name)
}

// namesValues reports whether data is a list that names where values are, and has none.
//
//   - ExternalSecret: https://external-secrets.io/latest/api/externalsecret/
//   - SecretProviderClass: https://secrets-store-csi-driver.sigs.k8s.io/topics/sync-as-kubernetes-secret
func namesValues(data *yaml.Node) bool {
	return data.Kind == yaml.SequenceNode && !slices.ContainsFunc(data.Content, func(item *yaml.Node) bool {
		return len(fieldsOf(item, "remoteRef")) == 0 && len(fieldsOf(item, "objectName")) == 0
	})
}

// patchesSecret reports whether a mapping is a patch of a Secret: with a target, as in a
// kustomization, or an operation of a JSON patch on its values.
func patchesSecret(mapping *yaml.Node) bool {
	for _, target := range fieldsOf(mapping, "target") {
		for _, kind := range fieldsOf(target, "kind") { // it can be a pattern
			if strings.Contains(strings.ToLower(scalarOf(kind)), "secret") {
				return true
			}
		}
	}
	for _, at := range fieldsOf(mapping, "path") {
		at := strings.ToLower(scalarOf(at))
		if strings.HasPrefix(at, "/data") || strings.HasPrefix(at, "/stringdata") || strings.Contains(at, "last-applied-configuration") {
			return len(fieldsOf(mapping, "op")) > 0
		}
	}
	return false
}

// walkText hides the values of secrets in a text that is YAML or JSON itself.
func (h *hider) walkText(n *yaml.Node, about bool) error {
	text := scalarOf(n)
	if !mayEmbed(text) {
		return nil
	}
	documents := decoded(text)
	if tooDeep := h.depth == maxEmbedding; tooDeep || len(documents) == 0 {
		if tooDeep || isSecretText(text) {
			h.hide(n, notDecoded)
		}
		return nil
	}
	h.depth++
	defer func() { h.depth-- }()
	before, outer := len(h.hidden), len(h.embedded)
	h.embedded = append(h.embedded, embedded{text: n})
	var copies []*yaml.Node
	for i, document := range documents {
		copied, err := h.copyDocument(document)
		if err != nil {
			return err
		}
		copies = append(copies, copied)
		h.enter(strconv.Itoa(i))
		if err := h.walk(copied, about); err != nil {
			return err
		}
		h.leave()
	}
	if len(h.hidden) == before && !isSecretText(comments(text)) {
		h.embedded = h.embedded[:outer] // as it is
		return nil
	}
	h.embedded[outer].documents = copies
	return nil
}

// walkBase64 hides a value that is the base64 of a text with a Secret, such as binaryData of a ConfigMap.
func (h *hider) walkBase64(n *yaml.Node, about bool) error {
	if len(n.Value) < minBase64 {
		return nil
	}
	encoded := strings.TrimRight(strings.Join(strings.Fields(n.Value), ""), "=")
	content, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil {
		return nil //nolint:nilerr // it is other text
	}
	before, outer := len(h.hidden), len(h.embedded)
	if err := h.walkText(&yaml.Node{Kind: yaml.ScalarNode, Value: string(content)}, about); err != nil {
		return err
	}
	if len(h.hidden) > before || len(h.embedded) > outer {
		h.hidden, h.embedded = h.hidden[:before], h.embedded[:outer]
		h.hide(n, notShown)
	}
	return nil
}

// hideAll hides all values below a node. The keys of mappings are shown.
func (h *hider) hideAll(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		h.hide(n, notShown)
		return
	}
	for i, child := range n.Content {
		if isKey := n.Kind == yaml.MappingNode && i%2 == 0; isKey && child.Kind == yaml.ScalarNode {
			continue
		}
		h.enter(stepTo(n, i))
		h.hideAll(child)
		h.leave()
	}
}

// hide hides one value.
func (h *hider) hide(n *yaml.Node, instead string) {
	h.hidden = append(h.hidden, hiddenValue{shown: n, path: fmt.Sprintf("%q", h.path), value: n.Tag + " " + n.Value})
	h.isHidden[n] = true
	*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: instead}
}

// mark shows which values are not those of an earlier state of the object.
func (s secrets) mark(was secrets) {
	before := map[string]string{}
	for _, one := range was.hidden {
		before[one.path] = one.value
	}
	for _, one := range s.hidden {
		if value, known := before[one.path]; known && value != one.value {
			one.shown.Value = notShownChanged
		}
	}
}

// writeEmbedded writes the texts that contain manifests again.
func (s secrets) writeEmbedded() error {
	for _, one := range slices.Backward(s.embedded) { // the inner ones first
		var parts []string
		for _, document := range one.documents {
			part, err := textOf(document)
			if err != nil {
				return err
			}
			parts = append(parts, part)
		}
		whole := strings.Join(parts, "---\n")
		if !strings.HasSuffix(one.text.Value, "\n") {
			whole = strings.TrimSuffix(whole, "\n")
		}
		one.text.Tag, one.text.Value = "!!str", whole
	}
	return nil
}

// mayEmbed reports whether a text may be YAML or JSON with a Secret, or with a patch of one. Most
// texts are not, and need not be parsed.
func mayEmbed(text string) bool {
	lower := strings.ToLower(text)
	if !strings.ContainsAny(text, ":{\"'") {
		return false
	}
	for _, part := range []string{"secret", "ſecret", "data", `\`, "!"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return false
}

// secretText matches what a Secret begins with in a text that is not parsed.
var secretText = regexp.MustCompile(`(?i)kind["'\\\s]*[:=](?:["'\\\s]*[a-z]*|.*)secret|stringdata|secretgenerator`)

func isSecretText(text string) bool { return secretText.MatchString(text) }

// commentText matches the comments of YAML, and more.
var commentText = regexp.MustCompile(`(?m)(?:^|\s)#.*$`)

func comments(text string) string { return strings.Join(commentText.FindAllString(text, -1), "\n") }

// decoded parses a text that is a mapping or a sequence, or quotes one. Empty: it is other text.
func decoded(text string) []*yaml.Node {
	var documents []*yaml.Node
	err := eachDocument([]byte(text), func(document *yaml.Node) error {
		if document.Kind == yaml.ScalarNode && document.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
			return errText
		}
		documents = append(documents, document)
		return nil
	})
	if err != nil {
		return nil
	}
	return documents
}

var errText = errors.New("other text")

// byteOrderMark may begin each document, because each can be from a file of its own. The parser knows only the
// first one, and reads others as a part of a name or text.
// https://yaml.org/spec/1.2.2/#52-character-encodings
const byteOrderMark = "\ufeff"

// eachDocument parses YAML, or JSON that is no YAML. Its error can contain values.
func eachDocument(text []byte, use func(*yaml.Node) error) error {
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte(byteOrderMark)), []byte("\n"+byteOrderMark), []byte("\n"))
	if normal, is := normalJSON(text); is {
		text = normal
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(document.Content) == 0:
			continue
		}
		if err := use(document.Content[0]); err != nil {
			return err
		}
	}
}

// escapedHalf matches the escape of a half of a character beyond 16 bits.
var escapedHalf = regexp.MustCompile(`\\u[dD][89a-fA-F]`)

// normalJSON returns the documents of JSON without what the YAML parser does not know: tabs, halves
// of characters, and documents without a separator.
func normalJSON(text []byte) ([]byte, bool) {
	if first := bytes.TrimSpace(text); len(first) == 0 || first[0] != '{' && first[0] != '[' {
		return nil, false
	}
	var normal bytes.Buffer
	encoder := json.NewEncoder(&normal)
	encoder.SetEscapeHTML(false)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for {
		var document any = new(json.RawMessage) // with fields that are given twice
		if escapedHalf.Match(text) {
			document = new(any)
		}
		err := decoder.Decode(document)
		if errors.Is(err, io.EOF) {
			return normal.Bytes(), true
		}
		if err != nil {
			return nil, false
		}
		normal.WriteString("---\n")
		if err := encoder.Encode(document); err != nil {
			return nil, false
		}
	}
}

// fieldsOf returns the values of a field in any case, of which there can be several.
func fieldsOf(mapping *yaml.Node, name string) []*yaml.Node {
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	var values []*yaml.Node
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if strings.EqualFold(nameIn(mapping.Content[i]), name) {
			values = append(values, mapping.Content[i+1])
		}
	}
	return values
}

// nameIn returns the text of a scalar as it is compared with names of fields and kinds.
func nameIn(n *yaml.Node) string { return strings.ToLower(strings.TrimSpace(scalarOf(n))) }

// scalarOf returns the text of a scalar; empty: it is none.
func scalarOf(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		return ""
	}
	if n.Tag == "!!binary" {
		if decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), "")); err == nil {
			return string(decoded)
		}
	}
	return n.Value
}
