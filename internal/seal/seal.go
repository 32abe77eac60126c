// Package seal authenticates what promoter writes to a GitOps repository, where any user
// who may push can write anything under any name.
//
// A seal is a trailer of a commit of the branch promoter/_state: an HMAC-SHA256 over the
// repository, a counter, the tree, the parent, and the message of the commit. The tree has
// the path and content of each record, and the parent is the predecessor, so that neither a
// record nor a commit can be copied, moved, or put on another history. A mark is a trailer of
// a commit that lands: the same over the repository and the counter alone, which shows later
// that the state branch was at least that far. A head of a pull request names the heads that it replaced, each with the same
// over the repository, that head, and its content.
//
// The keys are secrets of the operator. The first one writes; all of them verify, so that a
// key can be replaced.
package seal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Trailers of commits.
const (
	Trailer     = "Promoter-Seal"  // of a commit of the state branch
	MarkTrailer = "Promoter-State" // of a commit that lands
)

// MinLength is the length of the shortest key, in bytes.
const MinLength = 32

const version = "v1"

// Keys verify seals, and the first one makes them. Without keys there are no seals.
type Keys []key

type key struct {
	id    string // names the key and reveals nothing about it
	value []byte
}

// New returns keys made of secrets, in order. One of less than 32 characters is an Invalid
// fault.
func New(secrets ...secret.String) (Keys, error) {
	var keys Keys
	for i, one := range secrets {
		value := []byte(strings.TrimSpace(one.Reveal()))
		if len(value) < MinLength {
			return nil, fault.New(fault.Invalid,
				"key %d of the seals has %d characters, want at least %d: make one with 'openssl rand -hex 32'", i+1, len(value), MinLength)
		}
		id := sha256.Sum256(append([]byte("promoter key of seals\x00"), value...))
		keys = append(keys, key{id: hex.EncodeToString(id[:4]), value: value})
	}
	return keys, nil
}

// Generate returns a random key.
func Generate() secret.String {
	value := make([]byte, MinLength)
	_, _ = rand.Read(value) // never fails
	return secret.New(hex.EncodeToString(value))
}

// Commit is what a seal binds.
type Commit struct {
	Repository string // its key, which stays when it is renamed
	Counter    uint64 // greater than that of every earlier seal
	Tree       string // ID of the tree
	Parent     string // ID of the parent; empty: the first commit of the branch
	Message    string // without the trailer; spaces at its end do not count
}

// Seal is a valid seal.
type Seal struct {
	Counter uint64
	Current bool // it was made with the first key
}

// Seal returns the value of the trailer: "v1 KEY COUNTER MAC".
func (k Keys) Seal(c Commit) string {
	return k[0].text(c.Counter, fieldsOf(c))
}

// Verify verifies the trailer of a commit. The counter is the one of the trailer.
func (k Keys) Verify(value string, c Commit) (Seal, bool) {
	return k.verify(value, func(counter uint64) []string {
		c.Counter = counter
		return fieldsOf(c)
	})
}

// Mark returns the trailer of a commit that lands while the newest seal has the counter.
func (k Keys) Mark(repository string, counter uint64) string {
	return k[0].text(counter, markFields(repository, counter))
}

// VerifyMark returns the counter of a mark.
func (k Keys) VerifyMark(repository, value string) (uint64, bool) {
	found, ok := k.verify(value, func(counter uint64) []string { return markFields(repository, counter) })
	return found.Counter, ok
}

// Same returns a seal that a head of a repository has a content.
func (k Keys) Same(repository, head, content string) string {
	return k[0].text(0, sameFields(repository, head, content))
}

// VerifySame reports whether promoter sealed that a head of a repository has a content.
func (k Keys) VerifySame(value, repository, head, content string) bool {
	_, ok := k.verify(value, func(uint64) []string { return sameFields(repository, head, content) })
	return ok
}

func sameFields(repository, head, content string) []string {
	return []string{"same", repository, head, content}
}

func fieldsOf(c Commit) []string {
	return []string{"commit", c.Repository, strconv.FormatUint(c.Counter, 10), c.Tree, c.Parent, strings.TrimRight(c.Message, " \t\r\n")}
}

func markFields(repository string, counter uint64) []string {
	return []string{"mark", repository, strconv.FormatUint(counter, 10)}
}

func (k key) text(counter uint64, fields []string) string {
	return fmt.Sprintf("%s %s %d %s", version, k.id, counter, base64.RawURLEncoding.EncodeToString(k.mac(fields)))
}

// mac authenticates fields, each with its length.
func (k key) mac(fields []string) []byte {
	mac := hmac.New(sha256.New, k.value)
	for _, field := range append([]string{"promoter seal " + version}, fields...) {
		_, _ = fmt.Fprintf(mac, "%d:%s", len(field), field)
	}
	return mac.Sum(nil)
}

// verify compares texts, so that a seal has one: decoders of numbers and of base64 take more
// than one text for the same bytes.
func (k Keys) verify(value string, fields func(counter uint64) []string) (Seal, bool) {
	parts := strings.Split(value, " ")
	if len(parts) != 4 || parts[0] != version {
		return Seal{}, false
	}
	counter, err := strconv.ParseUint(parts[2], 10, 64)
	if err != nil {
		return Seal{}, false
	}
	for i, one := range k {
		if one.id == parts[1] && hmac.Equal([]byte(value), []byte(one.text(counter, fields(counter)))) {
			return Seal{Counter: counter, Current: i == 0}, true
		}
	}
	return Seal{}, false
}
