package seal_test

import (
	"strings"
	"testing"

	"promoter/internal/seal"
	"promoter/internal/secret"
)

func keys(t *testing.T, texts ...string) seal.Keys {
	t.Helper()
	var secrets []secret.String
	for _, text := range texts {
		secrets = append(secrets, secret.New(text))
	}
	made, err := seal.New(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

var (
	first  = strings.Repeat("a", seal.MinLength)
	second = strings.Repeat("b", seal.MinLength)
	commit = seal.Commit{Repository: "github.com:1", Counter: 7, Tree: "11", Parent: "22", Message: "Hold prod\n\nBecause."}
)

func TestVerify_onlyWhatWasSealed(t *testing.T) {
	t.Parallel()
	k := keys(t, first)
	value := k.Seal(commit)
	read := commit
	read.Counter, read.Message = 0, commit.Message+"\n\n" // as Git stores it
	if got, ok := k.Verify(value, read); !ok || got != (seal.Seal{Counter: 7, Current: true}) {
		t.Fatalf("got %+v, %v", got, ok)
	}
	for name, change := range map[string]func(*seal.Commit){
		"another repository": func(c *seal.Commit) { c.Repository = "github.com:2" },
		"another tree":       func(c *seal.Commit) { c.Tree = "12" },
		"another parent":     func(c *seal.Commit) { c.Parent = "23" },
		"no parent":          func(c *seal.Commit) { c.Parent = "" },
		"another message":    func(c *seal.Commit) { c.Message = "Hold dev" },
		"moved bytes":        func(c *seal.Commit) { c.Tree, c.Parent = "112", "2" },
	} {
		other := commit
		change(&other)
		if _, ok := k.Verify(value, other); ok {
			t.Errorf("valid with %s", name)
		}
	}
	for name, other := range map[string]string{
		"a higher counter": strings.Replace(value, " 7 ", " 8 ", 1), "no mac": value[:strings.LastIndex(value, " ")],
		"other unused bits in the last digit": value[:len(value)-1] + string(value[len(value)-1]+1), "a line break in the mac": value[:len(value)-1] + "\n" + value[len(value)-1:],
		"a counter with a zero": strings.Replace(value, " 7 ", " 07 ", 1), "a short mac": value[:len(value)-4], "empty": "", "a mark": k.Mark(commit.Repository, 7), "a sign": strings.Replace(value, " 7 ", " +7 ", 1) + "x",
	} {
		if _, ok := k.Verify(other, commit); ok {
			t.Errorf("valid: %s", name)
		}
	}
	if _, ok := keys(t, second).Verify(value, commit); ok {
		t.Error("valid with another key")
	}
	if _, ok := seal.Keys(nil).Verify(value, commit); ok {
		t.Error("valid without a key")
	}
}

func TestVerify_oldKeysUntilTheyAreRemoved(t *testing.T) {
	t.Parallel()
	value := keys(t, first).Seal(commit)
	rotated := keys(t, second, first)
	if got, ok := rotated.Verify(value, commit); !ok || got.Current {
		t.Errorf("got %+v, %v", got, ok)
	}
	if got, ok := rotated.Verify(rotated.Seal(commit), commit); !ok || !got.Current {
		t.Errorf("a new seal: %+v, %v", got, ok)
	}
}

func TestVerifyMark_bindsRepositoryAndCounter(t *testing.T) {
	t.Parallel()
	k := keys(t, first)
	value := k.Mark("github.com:1", 7)
	if got, ok := k.VerifyMark("github.com:1", value); !ok || got != 7 {
		t.Errorf("got %d, %v", got, ok)
	}
	for repository, value := range map[string]string{
		"github.com:2": value,
		"github.com:1": strings.Replace(value, " 7 ", " 70 ", 1),
	} {
		if _, ok := k.VerifyMark(repository, value); ok {
			t.Errorf("valid: %s %s", repository, value)
		}
	}
}

func TestNew_refusesShortKeys(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "short", strings.Repeat("a", seal.MinLength-1) + "\n"} {
		if _, err := seal.New(secret.New(first), secret.New(text)); err == nil || !strings.Contains(err.Error(), "key 2") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if a, b := seal.Generate().Reveal(), seal.Generate().Reveal(); a == b || len(a) < seal.MinLength {
		t.Errorf("generated %q and %q", a, b)
	}
}

func FuzzVerify(f *testing.F) {
	k, _ := seal.New(secret.New(first))
	value := k.Seal(commit)
	f.Add(value)
	f.Add("v1 0011 7 AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := k.Verify(text, commit); ok && (text != value || got.Counter != commit.Counter) {
			t.Errorf("%q is valid", text)
		}
	})
}

// The seal of a content is worth nothing for another head, another content, or another repository.
func TestKeys_sameContent(t *testing.T) {
	t.Parallel()
	k := keys(t, first)
	value := k.Same("github.com:1", "head", "content")
	for name, test := range map[string]struct {
		repository, head, content string
		want                      bool
	}{
		"the same":           {"github.com:1", "head", "content", true},
		"another repository": {"github.com:2", "head", "content", false},
		"another head":       {"github.com:1", "other", "content", false},
		"another content":    {"github.com:1", "head", "other", false},
	} {
		if got := k.VerifySame(value, test.repository, test.head, test.content); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if keys(t, second).VerifySame(value, "github.com:1", "head", "content") || seal.Keys(nil).VerifySame(value, "github.com:1", "head", "content") {
		t.Error("another key verifies it")
	}
	if mark := k.Mark("github.com:1", 0); k.VerifySame(mark, "github.com:1", "head", "content") {
		t.Error("a mark is a seal of a content")
	}
}
