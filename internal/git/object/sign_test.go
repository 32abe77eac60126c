package object_test

import (
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/git/gittest"
	"promoter/internal/git/object"
)

func TestSign_isTheHeaderThatGitReads(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	d := draft(object.ID{}, map[string]string{"a": "1"})
	d.Trailers = object.Trailers{{Key: "Promoter-Environment", Value: "dev"}}
	id := r.write(t, d)
	var payload string
	signed, err := r.Sign(id, func(signing []byte) (string, error) {
		payload = string(signing)
		return "-----BEGIN X-----\n\nabc\n-----END X-----\n", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	raw := gittest.Exec(t, r.dir, "cat-file", "commit", signed.String())
	const header = "gpgsig -----BEGIN X-----\n \n abc\n -----END X-----\n"
	if payload != gittest.Exec(t, r.dir, "cat-file", "commit", id.String()) || strings.Replace(raw, header, "", 1) != payload || raw == payload {
		t.Errorf("signed %q, the commit is %q", payload, raw)
	}
	r.fsck(t, signed)
	before, err := r.Commit(id)
	if err != nil {
		t.Fatal(err)
	}
	after, err := r.Commit(signed)
	if err != nil || after.Message != before.Message || after.Tree != before.Tree || len(after.Trailers) != 1 {
		t.Errorf("the signature changes what is read: %+v, %v", after, err)
	}
	if _, err := r.Sign(signed, func([]byte) (string, error) { return "again", nil }); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a signed commit is signed again: %v", err)
	}
}

// A commit of https://github.com/DataDog/commit-headless that GitHub made for an App: there is
// an empty line after the signature.
func TestWriteSigned_isTheCommitThatGitHubMade(t *testing.T) {
	t.Parallel()
	const payload = `tree b736477953bce3531c44a3392f748d3e9be4358e
parent 583489e08d78037e7fa256c14adf998d5463f6a0
author github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com> 1767641224 +0000
committer GitHub <noreply@github.com> 1767641224 +0000

action: chore(ci): switch to internal ci config (#35)

Co-authored-by: github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>`
	const signature = `-----BEGIN PGP SIGNATURE-----

wsFcBAABCAAQBQJpXBCLCRC1aQ7uu5UhlAAA4rkQAGsZI4gAv1uNqSKj9z5Btgel
tM34cpdBPQxi9ll1QYRKC6j4i/Vcw09H74eTtWQiNDtaIsmm/Ojzesn1vJukSCz6
iht2EK7WYk5qNDlhj+dRsvR3S40BTtGra3PR2aGuqhmcJlp7CWl6vu2itzrGE60p
X2qd44XEFOx8yrhNrmRzK2Wh4poeJSX+9tG5FnPl5mw0USBm8L/Ufa/D6Q9YEHxf
70kmvNHeLP/DspJKQ3G1ABbXPlCKrIrjrv+7cGGQaQ037js2fS5qjqYQfoIWxoNL
hwJuZfljCP7nGaJogC4WcOjZZIUJikhs3s/m6LqUGsSmeImnTGEwkRXF+6e6N92e
zDA1DpTCfKpedkCmIEzEs5g5Ame/YsKoGzLQ+YMsEElqFtr5f0feR0WewFJ7vuEc
gCkgbm4QgtdWXIawQrUx5RD9y4CuWog1WtJG/hKin/w9K7RNK5wNMWYRp2HWQrMI
2av/X9+OEQIj/p2OAm1kmHXeqEVmvf+Wrfb2bbRXHBF9H1cfc3AUZV3buCON/Dza
t5hXgMvFxj2oir1q2nx7b3ZjneRXT/etE/W4YXuqAFU6BIxL0QoCFbQO+oGWi0+U
uGrJyOWQIXYDYhJCCX6tz7qT8MS8KOSEWm5hr1D8KW2XyOFLbKkwjeCFBwsMrEy3
34zOPOgREJzNzGKHRhmR
=0ocF
-----END PGP SIGNATURE-----
`
	r := newRepo(t)
	id := parse(t, "b18c2fcd4388421a7262a8e819b8e242a5a3af90")
	for name, sent := range map[string]string{"another payload": payload + "x", "no header": "x"} {
		if err := r.WriteSigned(id, sent, signature); fault.KindOf(err) != fault.Invalid || r.Has(id) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.WriteSigned(id, payload, signature); err != nil {
		t.Fatal(err)
	}
	commit, err := r.Commit(id)
	if err != nil || commit.Author.Name != "github-actions[bot]" || commit.Committer.Email != "noreply@github.com" {
		t.Errorf("%+v, %v", commit, err)
	}
}
