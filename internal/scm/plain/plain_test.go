package plain_test

import (
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm/plain"
	"promoter/internal/scm/scmtest"
)

func TestPlain_conformance(t *testing.T) {
	t.Parallel()
	scmtest.Run(t, func(*testing.T) scmtest.Bench {
		return scmtest.Bench{Forge: plain.New(plain.Options{Base: "https://git.example.com/gitops/"}), Name: "acme/deploy"}
	})
}

func TestPlain_Open(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ base, name, key, clone string }{
		{"https://git.example.com", "acme/deploy", "git:https://git.example.com/acme/deploy", "https://git.example.com/acme/deploy"},
		{"https://u:canary@git.example.com/a/", "/deploy.git", "git:https://git.example.com/a/deploy", "https://git.example.com/a/deploy.git"},
		{"", "ssh://git:canary@git.example.com/deploy", "git:ssh://git.example.com/deploy", "ssh://git@git.example.com/deploy"},
		{"", "git@git.example.com:acme/deploy.git", "git:ssh://git.example.com/acme/deploy", "git@git.example.com:acme/deploy.git"},
		{"file:///srv/git", "deploy.git", "git:file:///srv/git/deploy.git", "file:///srv/git/deploy.git"},
	} {
		repo, err := plain.New(plain.Options{Base: test.base}).Open(t.Context(), test.name)
		if err != nil {
			t.Errorf("%s in %q: %v", test.name, test.base, err)
			continue
		}
		if info := repo.Info(); string(info.Key) != test.key || info.CloneURL != test.clone || info.Name != test.name || !info.MayPush {
			t.Errorf("%s in %q: %+v", test.name, test.base, info)
		}
	}
}

func TestPlain_Open_refuses(t *testing.T) {
	t.Parallel()
	for _, test := range [][2]string{{"https://git.example.com/a", "../b"}, {"https://git.example.com/a", "b?c"}, {"", "deploy"}, {"", "ext::sh -c id"}} {
		if repo, err := plain.New(plain.Options{Base: test[0]}).Open(t.Context(), test[1]); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v, %v", test, repo, err)
		}
	}
}
