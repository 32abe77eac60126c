package git

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // what Git uses
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"

	"promoter/internal/fault"
	"promoter/internal/git/gittest"
)

// Kinds of objects in a pack.
const (
	packBlob     = 3
	packRefDelta = 7
)

// packed is one object of a hand-made pack.
type packed struct {
	kind    byte
	size    uint64 // as the header says it
	base    []byte
	content []byte
}

// handMade builds a pack as no honest server would.
func handMade(t testing.TB, count uint32, objects ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("PACK\x00\x00\x00\x02")
	b.Write(binary.BigEndian.AppendUint32(nil, count))
	for _, o := range objects {
		first := o.kind<<4 | byte(o.size&0x0f)
		if rest := o.size >> 4; rest > 0 {
			b.WriteByte(first | 0x80)
			b.Write(binary.AppendUvarint(nil, rest))
		} else {
			b.WriteByte(first)
		}
		b.Write(o.base)
		w := zlib.NewWriter(&b)
		if _, err := w.Write(o.content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha1.Sum(b.Bytes()) //nolint:gosec // what Git uses
	b.Write(sum[:])
	return b.Bytes()
}

// delta is the start of a delta: the sizes of its base and of its result.
func delta(from, made uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, from), made)
}

func blobHash(content []byte) []byte {
	hash := plumbing.ComputeHash(plumbing.BlobObject, content)
	return hash[:]
}

// What a pack contains is what Git finds in it, however it refers to the bases of its deltas.
func TestIndexPack_asGitDoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gittest.Exec(t, dir, "init", "-q")
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // for a test
	lines := make([]string, 200)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d", random.Int())
	}
	for range 30 { // versions of files, so that deltas follow each other, and branch
		for _, name := range []string{"a", "b/c", "b/d"} {
			lines[random.IntN(len(lines))] = fmt.Sprintf("line %d", random.Int())
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		gittest.Exec(t, dir, "add", ".")
		gittest.Exec(t, dir, "commit", "-qm", "change")
	}
	for _, bases := range []string{"--delta-base-offset", "--no-delta-base-offset"} {
		t.Run(bases, func(t *testing.T) {
			t.Parallel()
			prefix := filepath.Join(t.TempDir(), "pack")
			id := strings.TrimSpace(gittest.ExecWithInput(t, dir, "HEAD\n", "pack-objects", "-q", "--revs", "--depth=20", bases, prefix))
			name := prefix + "-" + id + ".pack"
			pack, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			index, count, err := indexPack(bytes.NewReader(pack), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			content, err := index.Index()
			if err != nil {
				t.Fatal(err)
			}
			var own bytes.Buffer
			if _, err := idxfile.NewEncoder(&own).Encode(content); err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(indexOf(name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(own.Bytes(), want) {
				t.Error("the index is another one than that of Git")
			}
			if report := gittest.Exec(t, dir, "verify-pack", "-v", name); count < 150 || !strings.Contains(report, "chain length = 10:") {
				t.Errorf("%d objects without long chains of deltas:\n%s", count, report)
			}
		})
	}
}

func TestIndexPack_limits(t *testing.T) {
	t.Parallel()
	base := make([]byte, 20)
	const limit = 1000
	full := bytes.Repeat([]byte("x"), limit)
	twice := append(delta(600, limit), 0xb0, 0x58, 0x02, 0xb0, 0x90, 0x01) // copies 600 bytes, then 400
	for name, test := range map[string]struct {
		pack []byte
		want string // empty: taken
		kind fault.Kind
	}{
		"up to the limit":         {pack: handMade(t, 1, packed{packBlob, limit, nil, full})},
		"a delta up to it":        {pack: handMade(t, 2, packed{packBlob, 600, nil, full[:600]}, packed{packRefDelta, uint64(len(twice)), blobHash(full[:600]), twice})},
		"a delta before its base": {pack: handMade(t, 2, packed{packRefDelta, uint64(len(twice)), blobHash(full[:600]), twice}, packed{packBlob, 600, nil, full[:600]})},
		"a delta of no base":      {handMade(t, 1, packed{packRefDelta, uint64(len(twice)), base, twice}), "a delta has no base", ""},
		"less than it says":       {handMade(t, 1, packed{packBlob, limit, nil, full[:600]}), "has 600", ""},
		"an unknown type":         {handMade(t, 1, packed{5, 5, nil, []byte("hello")}), "the type 5", ""},
		"nothing":                 {pack: handMade(t, 0)},
		"exceeds the limit":       {handMade(t, 1, packed{packBlob, limit + 1, nil, append(full, 'x')}), "an object of 1001 bytes, over the limit of 1000", fault.Invalid},
		"said to be over it":      {handMade(t, 1, packed{packBlob, 1 << 40, nil, full}), "an object of 1099511627776 bytes", fault.Invalid},
		"a delta over it":         {handMade(t, 1, packed{packRefDelta, 3, base, delta(10, limit+1)}), "an object of 1001 bytes", fault.Invalid},
		"a delta far over it":     {handMade(t, 1, packed{packRefDelta, 11, base, delta(10, 1<<63)}), "over the limit of 1000", fault.Invalid},
		"a delta of nothing":      {handMade(t, 1, packed{packRefDelta, 0, base, nil}), "a delta has no size", ""},
		"more than it says":       {handMade(t, 1, packed{packBlob, 10, nil, full}), "exceeds declared size", ""},
		"too many":                {handMade(t, maxPackObjects+1), "over the limit of 1000000", fault.Invalid},
		"no pack":                 {[]byte("hello, this is no pack"), "malformed", ""},
		"cut short":               {handMade(t, 1, packed{packBlob, limit, nil, full})[:16], "malformed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := indexPack(bytes.NewReader(test.pack), limit)
			switch {
			case test.want == "":
				if err != nil {
					t.Error(err)
				}
			case err == nil || !strings.Contains(err.Error(), test.want):
				t.Errorf("error: %v", err)
			case test.kind == "" && !errors.Is(err, errIncomplete):
				t.Errorf("no reason to fetch again: %v", err)
			case test.kind != "" && fault.KindOf(err) != test.kind:
				t.Errorf("%v: %v", fault.KindOf(err), err)
			}
		})
	}
}

func FuzzIndexPack(f *testing.F) {
	f.Add(handMade(f, 1, packed{packBlob, 5, nil, []byte("hello")}))
	f.Add(handMade(f, 1, packed{packRefDelta, 4, make([]byte, 20), delta(10, 20)}))
	f.Add([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, pack []byte) {
		_, count, err := indexPack(bytes.NewReader(pack), 1000)
		if err == nil && int(count)*9 > len(pack) { // a header byte and an empty zlib stream
			t.Errorf("%d objects in %d bytes", count, len(pack))
		}
	})
}
