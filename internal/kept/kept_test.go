package kept_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/kept"
)

func newFile(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "kept")
}

func put(t testing.TB, f *kept.File, name, text string) {
	t.Helper()
	if err := f.Put(map[string]string{name: text}); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, f *kept.File, name, text string) {
	t.Helper()
	err := f.Write(name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// found is what a file has of some values. Names of large ones begin with "large".
func found(t testing.TB, f *kept.File, names ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range names {
		if !strings.HasPrefix(name, "large") {
			text, known, err := f.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			if known {
				all[name] = text
			}
			continue
		}
		err := f.Read(name, func(r io.Reader) error {
			text, err := io.ReadAll(r)
			all[name] = string(text)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			all[name] = "damaged"
		}
	}
	return all
}

func same(t testing.TB, what string, want, got map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func size(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// Each owner of the file adds to what the one before left.
func TestFile_ownersOneAfterTheOther(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	names := []string{"a", "b", "empty", "large", "large other", "none"}
	first := kept.At(path)
	same(t, "no file", map[string]string{}, found(t, first, names...))
	if first.IsCurrent() {
		t.Error("no file is current")
	}
	put(t, first, "a", "1")
	write(t, first, "large", strings.Repeat("large ", 50_000))
	put(t, first, "b", "2")
	put(t, first, "a", "3")
	put(t, first, "empty", "")
	want := map[string]string{"a": "3", "b": "2", "empty": "", "large": strings.Repeat("large ", 50_000)}
	same(t, "the owner", want, found(t, first, names...))
	second := kept.At(path)
	same(t, "the next owner", want, found(t, second, names...))
	write(t, second, "large other", "short")
	put(t, second, "b", "4")
	want["b"] = "4"
	want["large other"] = "short"
	same(t, "after the next owner", want, found(t, kept.At(path), names...))
	if first.IsCurrent() || !second.IsCurrent() {
		t.Error("only what the last owner has is current")
	}
	if m := second.Memory(); m < 3*200 || m > 5*400 {
		t.Errorf("large values are in memory, or none: %d bytes", m)
	}
	put(t, first, "a", "5") // it does not lose what it did not know
	want["a"] = "5"
	same(t, "after the first owner", want, found(t, kept.At(path), names...))
}

// A process may be killed after any byte of a write. What was there before stays, and the next value takes the place of the
// incomplete one.
func TestFile_endsAtAnyByte(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	writer := kept.At(path)
	ends := map[int64]map[string]string{}
	values := map[string]string{}
	ends[0] = map[string]string{}
	for _, one := range []struct{ name, text string }{{"a", "1"}, {"large", "content"}, {"b", ""}, {"a", "2"}} {
		if strings.HasPrefix(one.name, "large") {
			write(t, writer, one.name, one.text)
		} else {
			put(t, writer, one.name, one.text)
		}
		values[one.name] = one.text
		ends[size(t, path)] = maps.Clone(values)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for cut := range len(whole) + 1 {
		if now, complete := ends[int64(cut)]; complete {
			want = now
		}
		for _, rest := range []string{"", strings.Repeat("\x00", len(whole)-cut)} { // as a power failure leaves it
			torn := newFile(t)
			if err := os.WriteFile(torn, append(whole[:cut:cut], rest...), 0o600); err != nil {
				t.Fatal(err)
			}
			read := func() map[string]string {
				all := found(t, kept.At(torn), "a", "b", "large", "next")
				if rest != "" && all["large"] == "damaged" {
					delete(all, "large")
				}
				return all
			}
			same(t, fmt.Sprintf("%d of %d bytes, and %d more", cut, len(whole), len(rest)), want, read())
			put(t, kept.At(torn), "next", "n")
			next := maps.Clone(want)
			next["next"] = "n"
			same(t, fmt.Sprintf("the next value after %d bytes", cut), next, read())
		}
	}
}

// A file of another version is like none, and is replaced.
func TestFile_otherVersion(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	put(t, kept.At(path), "a", "1")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(text), "kept 1\n", "kept 2\n", 1)
	if err := os.WriteFile(path, []byte(other+other), 0o600); err != nil {
		t.Fatal(err)
	}
	same(t, "of another version", map[string]string{}, found(t, kept.At(path), "a"))
	put(t, kept.At(path), "b", "2")
	same(t, "replaced", map[string]string{"b": "2"}, found(t, kept.At(path), "a", "b"))
}

// A large value is verified when it is used; one that is damaged hides no other.
func TestFile_damagedValue(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	write(t, kept.At(path), "large", strings.Repeat("x", 100_000))
	put(t, kept.At(path), "a", "1")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[50_000] = 'y'
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	same(t, "damaged", map[string]string{"a": "1", "large": "damaged"}, found(t, kept.At(path), "a", "large"))
}

// What is superseded is removed in time, in one step, and what killed processes left too.
func TestFile_isRewritten(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	if err := os.WriteFile(path+".123", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := kept.At(path)
	put(t, f, "first", "stays")
	write(t, f, "large", strings.Repeat("x", 30_000))
	for n := range 10_000 {
		put(t, f, "counter", fmt.Sprint(n))
		if size(t, path) > 30_000+17_000+31_000 {
			t.Fatalf("after %d changes, the file has %d bytes", n, size(t, path))
		}
	}
	want := map[string]string{"first": "stays", "large": strings.Repeat("x", 30_000), "counter": "9999"}
	same(t, "the owner", want, found(t, f, "first", "large", "counter"))
	same(t, "the next owner", want, found(t, kept.At(path), "first", "large", "counter"))
	if !f.IsCurrent() {
		t.Error("its owner does not know what it wrote")
	}
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("in the folder: %v, %v", all, err)
	}
}

func TestFile_forgets(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	none := func(string) bool { return true }
	if err := kept.At(path).Forget(none); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("to forget nothing makes a file: %v", err)
	}
	f := kept.At(path)
	put(t, f, "a", "1")
	put(t, f, "a", "2")
	put(t, f, "b", "3")
	if err := f.Forget(func(name string) bool { return name == "a" }); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*kept.File{f, kept.At(path)} {
		same(t, "one was forgotten", map[string]string{"b": "3"}, found(t, f, "a", "b"))
	}
}

// What fails while it is written changes nothing.
func TestWrite_fails(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	f := kept.At(path)
	write(t, f, "large", "before")
	failure := errors.New("failure")
	err := f.Write("large", func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Repeat("x", 100_000))
		return errors.Join(err, failure)
	})
	if !errors.Is(err, failure) {
		t.Error(err)
	}
	for _, f := range []*kept.File{f, kept.At(path)} {
		same(t, "after the failure", map[string]string{"large": "before"}, found(t, f, "large"))
	}
	put(t, f, "a", "1")
	same(t, "the next value", map[string]string{"large": "before", "a": "1"}, found(t, kept.At(path), "large", "a"))
}

// A user may delete the cache while it is in use.
func TestFile_isDeleted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mirror", "kept")
	f := kept.At(path)
	put(t, f, "a", "1")
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if f.IsCurrent() {
		t.Error("it is current")
	}
	put(t, f, "b", "2")
	same(t, "deleted", map[string]string{"b": "2"}, found(t, kept.At(path), "a", "b"))
}

// A file that cannot be read is not like none.
func TestFile_isUnreadable(t *testing.T) {
	t.Parallel()
	f := kept.At(t.TempDir())
	for range 2 { // the first error may be ignored
		if _, _, err := f.Get("a"); err == nil {
			t.Error("a folder can be read")
		}
	}
	if err := f.Put(map[string]string{"a": "1"}); err == nil {
		t.Error("a folder can be written")
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	f := kept.At(newFile(t))
	type one struct{ Name string }
	if got, err := kept.Load[one](f, "one"); err != nil || got != (one{}) {
		t.Errorf("none is %v, %v", got, err)
	}
	if err := kept.Store(f, "one", one{"x"}); err != nil {
		t.Fatal(err)
	}
	if got, err := kept.Load[one](f, "one"); err != nil || got != (one{"x"}) {
		t.Errorf("%v, %v", got, err)
	}
	put(t, f, "one", `{"Name": "y", "Name": 1`)
	if got, err := kept.Load[one](f, "one"); err != nil || got != (one{}) {
		t.Errorf("damaged, it is %v, %v", got, err)
	}
}

// FuzzFile reads files with any content. They can be written, and have what was read and written then.
func FuzzFile(f *testing.F) {
	path := newFile(f)
	writer := kept.At(path)
	put(f, writer, "a", "1")
	write(f, writer, "large", "content")
	put(f, writer, "b", "2")
	seed, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add(seed[:len(seed)-1])
	f.Add([]byte("promoter kept 1\n"))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := newFile(t)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		names := []string{"a", "b", "large"}
		want := found(t, kept.At(path), names...)
		put(t, kept.At(path), "b", "new")
		want["b"] = "new"
		same(t, "the next owner", want, found(t, kept.At(path), names...))
	})
}
