package git

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // what Git uses
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"promoter/internal/fault"
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

func TestInspect_findsIncompletePacks(t *testing.T) {
	t.Parallel()
	base := make([]byte, 20)
	const limit = 1000
	full := bytes.Repeat([]byte("x"), limit)
	for name, test := range map[string]struct {
		pack []byte
		want string // empty: taken
		kind fault.Kind
	}{
		"up to the limit":     {pack: handMade(t, 1, packed{packBlob, limit, nil, full})},
		"a delta up to it":    {pack: handMade(t, 1, packed{packRefDelta, 4, base, delta(5000, limit)})},
		"nothing":             {pack: handMade(t, 0)},
		"exceeds the limit":   {handMade(t, 1, packed{packBlob, limit + 1, nil, append(full, 'x')}), "an object of 1001 bytes, over the limit of 1000", fault.Invalid},
		"said to be over it":  {handMade(t, 1, packed{packBlob, 1 << 40, nil, full}), "an object of 1099511627776 bytes", fault.Invalid},
		"a delta over it":     {handMade(t, 1, packed{packRefDelta, 4, base, delta(10, limit+1)}), "an object of 1001 bytes", fault.Invalid},
		"a delta far over it": {handMade(t, 1, packed{packRefDelta, 11, base, delta(10, 1<<63)}), "over the limit of 1000", fault.Invalid},
		"a delta of nothing":  {handMade(t, 1, packed{packRefDelta, 0, base, nil}), "a delta has no size", ""},
		"more than it says":   {handMade(t, 1, packed{packBlob, 10, nil, full}), "exceeds declared size", ""},
		"too many":            {handMade(t, maxPackObjects+1), "over the limit of 1000000", fault.Invalid},
		"no pack":             {[]byte("hello, this is no pack"), "malformed", ""},
		"cut short":           {handMade(t, 1, packed{packBlob, limit, nil, full})[:16], "malformed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := checkPack(bytes.NewReader(test.pack), limit)
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

func FuzzCheckPack(f *testing.F) {
	f.Add(handMade(f, 1, packed{packBlob, 5, nil, []byte("hello")}))
	f.Add(handMade(f, 1, packed{packRefDelta, 4, make([]byte, 20), delta(10, 20)}))
	f.Add([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, pack []byte) {
		count, err := checkPack(bytes.NewReader(pack), 1000)
		if err == nil && int(count)*9 > len(pack) { // a header byte and an empty zlib stream
			t.Errorf("%d objects in %d bytes", count, len(pack))
		}
	})
}
