package secret_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/secret"
	"promoter/internal/secret/secrettest"
)

func TestFiles_followAMountedSecret(t *testing.T) {
	t.Parallel()
	m := secrettest.NewMount(t, map[string]string{"token": "one"})
	token := m.Secret("token")
	m.Swap(map[string]string{"token": "two"})
	if got := token.Reveal(); got != "one" {
		t.Errorf("read again within a second: %s", got)
	}
	m.Later()
	if got, again := token.Reveal(), m.Secret("token").Reveal(); got != "two" || again != "two" {
		t.Errorf("after the swap: %s, %s", got, again)
	}
	if log := m.Log(); strings.Count(log, "secret replaced") != 1 || strings.Contains(log, "two") {
		t.Errorf("the log has %s", log)
	}
	if got := fmt.Sprintf("%v %+v %#v %s", token, token, token, []any{token}); strings.Contains(got, "two") {
		t.Errorf("printed %s", got)
	}
}

// A refused secret is read again at once.
func TestFiles_readARefusedSecretAgain(t *testing.T) {
	t.Parallel()
	m := secrettest.NewMount(t, map[string]string{"token": "one"})
	token := m.Secret("token")
	if token.Renewed("one") {
		t.Error("the same secret may succeed")
	}
	m.Swap(map[string]string{"token": "two"})
	if !token.Renewed("one") || token.Reveal() != "two" {
		t.Error("the new secret is not read")
	}
	if fixed := secret.New("one"); fixed.Renewed("one") || (secret.String{}).Renewed("one") {
		t.Error("a secret without a file was renewed")
	}
}

// A file that is empty, gone, or wrong keeps the secret before, and is logged and listed once.
func TestFiles_keepTheSecretBefore(t *testing.T) {
	t.Parallel()
	m := secrettest.NewMount(t, map[string]string{"token": "a-long-secret"})
	long := func(s secret.String) error {
		if len(s.Reveal()) < 10 {
			return errors.New("too short")
		}
		return nil
	}
	plain := m.Secret("token")
	checked, err := secret.Checked(plain, "api.token", long)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name           string
		content        map[string]string
		plain, checked string
		problem        string
	}{
		{"empty", map[string]string{"token": ""}, "a-long-secret", "a-long-secret", "empty"},
		{"gone", nil, "a-long-secret", "a-long-secret", "no such file"},
		{"too short", map[string]string{"token": "short"}, "short", "a-long-secret", "too short"},
		{"correct", map[string]string{"token": "another-secret"}, "another-secret", "another-secret", ""},
		{"as before", map[string]string{"token": "another-secret"}, "another-secret", "another-secret", ""},
	} {
		m.Swap(test.content)
		m.Log()
		for range 3 {
			m.Later()
			if got := plain.Reveal(); got != test.plain {
				t.Errorf("%s: %s", test.name, got)
			}
			if got := checked.Reveal(); got != test.checked {
				t.Errorf("%s, with a check: %s", test.name, got)
			}
		}
		problems := m.Files.Problems()
		if test.problem == "" {
			if len(problems) > 0 {
				t.Errorf("%s: %v", test.name, problems)
			}
			continue
		}
		if len(problems) != 1 || problems[0].File != "token" || !strings.Contains(problems[0].Reason, test.problem) {
			t.Errorf("%s: %v", test.name, problems)
		}
		if log := m.Log(); strings.Count(log, "level=WARN") != 1 {
			t.Errorf("%s: not one warning: %s", test.name, log)
		}
	}
	if again, err := secret.Checked(m.Secret("token"), "api.token", long); err != nil || again != checked {
		t.Errorf("another secret for the same use: %v", err)
	}
}

// A secret that is wrong at the start is an error, and one that is wrong when it is resolved
// again is not.
func TestChecked_failsAtTheStartOnly(t *testing.T) {
	t.Parallel()
	m := secrettest.NewMount(t, map[string]string{"token": "wrong"})
	check := func(s secret.String) error {
		if s.Reveal() == "wrong" {
			return errors.New("wrong")
		}
		return nil
	}
	if _, err := secret.Checked(m.Secret("token"), "use", check); err == nil {
		t.Error("a wrong secret is accepted")
	}
	m.Swap(map[string]string{"token": "right"})
	m.Later()
	if _, err := secret.Checked(m.Secret("token"), "use", check); err != nil {
		t.Error(err)
	}
	m.Swap(map[string]string{"token": "wrong"})
	m.Later()
	if got, err := secret.Checked(m.Secret("token"), "use", check); err != nil || got.Reveal() != "right" {
		t.Errorf("%s %v", got.Reveal(), err)
	}
	if diff := cmp.Diff([]secret.Problem{{File: "token", Use: "use", Reason: "wrong"}}, m.Files.Problems()); diff != "" {
		t.Error(diff)
	}
}

// What is made from two files is made again when either changed, and from both of one moment.
func TestDerived_followsItsSecrets(t *testing.T) {
	t.Parallel()
	m := secrettest.NewMount(t, map[string]string{"key": "k1", "passphrase": "p1"})
	made := 0
	pair, err := secret.Derive("signing", func(from []secret.String) (string, error) {
		made++
		key, passphrase := from[0].Reveal(), from[1].Reveal()
		if key[1:] != passphrase[1:] {
			return "", errors.New("the passphrase is of another key")
		}
		return key + passphrase, nil
	}, m.Secret("key"), m.Secret("passphrase"))
	if err != nil {
		t.Fatal(err)
	}
	want := func(value string, times int) {
		t.Helper()
		m.Later()
		for range 3 {
			if got := pair.Value(); got != value || made != times {
				t.Errorf("%s, made %d times, want %s, %d", got, made, value, times)
			}
		}
	}
	want("k1p1", 1)
	m.Swap(map[string]string{"key": "k2", "passphrase": "p1"})
	want("k1p1", 2)
	if problems := m.Files.Problems(); len(problems) != 2 || problems[0].Use != "signing" {
		t.Errorf("%v", problems)
	}
	m.Swap(map[string]string{"key": "k2", "passphrase": "p2"})
	want("k2p2", 3)
	if problems := m.Files.Problems(); len(problems) != 0 {
		t.Errorf("%v", problems)
	}
}

// Many users of a secret see one of the versions, and at the end the last.
func TestFiles_areSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	m := secrettest.NewMount(t, map[string]string{"token": "version 0"})
	token := m.Secret("token")
	checked, err := secret.Checked(token, "use", func(secret.String) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				for _, one := range []secret.String{token, checked} {
					if text := one.Reveal(); !strings.HasPrefix(text, "version ") {
						t.Errorf("read %q", text)
					}
					one.Renewed("")
				}
				m.Files.Problems()
			}
		})
	}
	for i := range 20 {
		m.Swap(map[string]string{"token": fmt.Sprintf("version %d", i+1)})
	}
	group.Wait()
	token.Renewed("")
	if token.Reveal() != "version 20" || checked.Reveal() != "version 20" {
		t.Errorf("%s, %s", token.Reveal(), checked.Reveal())
	}
}
