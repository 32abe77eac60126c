package githubtest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"promoter/internal/git/gittest"
)

// createBlob stores a file.
// https://docs.github.com/en/rest/git/blobs#create-a-blob
func createBlob(c *call) *reply {
	var asked struct{ Content, Encoding string }
	if refused := c.read(&asked); refused != nil {
		return refused
	}
	content := []byte(asked.Content)
	if asked.Encoding == "base64" {
		var err error
		if content, err = base64.StdEncoding.DecodeString(asked.Content); err != nil {
			return invalid("content is not valid Base64")
		}
	}
	id := c.repo.model.Bare.Put("blob", string(content))
	return created(object{"sha": id, "url": c.s.API() + "repos/" + c.repo.model.FullName() + "/git/blobs/" + id})
}

// createTree stores a tree: another one with files changed.
// https://docs.github.com/en/rest/git/trees#create-a-tree
func createTree(c *call) *reply {
	var asked struct {
		Base string `json:"base_tree"`
		Tree []struct {
			Path, Mode, Type string
			SHA, Content     *string
		} `json:"tree"`
	}
	if refused := c.read(&asked); refused != nil {
		return refused
	}
	var files []gittest.Staged
	for _, one := range asked.Tree {
		file := gittest.Staged{Mode: one.Mode, Path: one.Path}
		switch {
		case one.Type != "blob" || one.Mode != "100644" && one.Mode != "100755":
			c.s.t.Errorf("githubtest: %s is a %s of mode %s, which is not supported", one.Path, one.Type, one.Mode)
		case one.SHA != nil && one.Content != nil:
			return invalid("Must supply either tree.sha or tree.content")
		case one.Content != nil:
			file.Blob = c.repo.model.Bare.Put("blob", *one.Content)
		case one.SHA != nil:
			file.Blob = *one.SHA
		}
		files = append(files, file)
	}
	id, err := c.repo.model.Bare.Stage(asked.Base, files...)
	if err != nil {
		return refuse(http.StatusUnprocessableEntity, "GitRPC::BadObjectState")
	}
	return created(object{
		"sha": id, "url": c.s.API() + "repos/" + c.repo.model.FullName() + "/git/trees/" + id, "tree": []object{}, "truncated": false,
	})
}

// createCommit stores a commit and moves no branch. That of an App without an author and a
// committer is signed, with the form that GitHub gives it: an empty line ends the signature.
// https://docs.github.com/en/rest/git/commits#create-a-commit
func createCommit(c *call) *reply {
	var asked struct {
		Message, Tree     string
		Parents           []string
		Author, Committer object
	}
	if refused := c.read(&asked); refused != nil {
		return refused
	}
	bare := c.repo.model.Bare
	if kind, err := bare.Try("cat-file", "-t", asked.Tree); err != nil || kind != "tree" {
		return invalid("Tree SHA does not exist")
	}
	var parents strings.Builder
	for _, parent := range asked.Parents {
		if kind, err := bare.Try("cat-file", "-t", parent); err != nil || kind != "commit" {
			return invalid("Parent SHA does not exist or is not a commit object")
		}
		fmt.Fprintf(&parents, "parent %s\n", parent)
	}
	if c.token.installation == nil || asked.Author != nil || asked.Committer != nil {
		c.s.t.Error("githubtest makes only commits of an App without an author and a committer")
		return refuse(http.StatusNotImplemented, "githubtest has no other commits")
	}
	host, _, _ := strings.Cut(c.s.Host(), ":")
	who, now := c.who(), c.s.hub.Now().Unix()
	payload := fmt.Sprintf("tree %s\n%sauthor %s <%d+%s@users.noreply.%s> %d +0000\ncommitter %s <%s> %d +0000\n\n%s",
		asked.Tree, parents.String(), who.Login, who.ID, who.Login, host, now, gitHubName, gitHubEmail, now, strings.TrimRight(asked.Message, "\n"))
	signature := c.s.sign(payload)
	signed := strings.Replace(payload, "\n\n", "\ngpgsig "+strings.ReplaceAll(signature, "\n", "\n ")+"\n\n", 1)
	drawn := drawCommit(c, c.repo.model, bare.Put("commit", signed))
	inner := drawn["commit"].(object)
	for _, key := range []string{"sha", "node_id", "html_url", "parents"} {
		inner[key] = drawn[key]
	}
	delete(inner, "comment_count")
	inner["verification"] = object{"verified": true, "reason": "valid", "signature": signature, "payload": payload, "verified_at": stamp(c.s.hub.Now())}
	return created(inner)
}

// signingKey makes the key with which GitHub signs.
func signingKey() *openpgp.Entity {
	key, err := openpgp.NewEntity(gitHubName, "", gitHubEmail, &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
	if err != nil {
		panic(err)
	}
	return key
}

// sign signs a commit, whose time may be another one than that of the key.
func (s *Server) sign(payload string) string {
	if s.key == nil {
		s.key = signingKey()
	}
	var signature bytes.Buffer
	if err := openpgp.ArmoredDetachSign(&signature, s.key, strings.NewReader(payload), nil); err != nil {
		panic(err)
	}
	return signature.String() + "\n"
}

// SigningKey returns the public key of GitHub's signatures, armored.
func (s *Server) SigningKey() string {
	var text bytes.Buffer
	s.act(func() {
		if s.key == nil {
			s.key = signingKey()
		}
		out, err := armor.Encode(&text, openpgp.PublicKeyType, nil)
		if err == nil {
			err = s.key.Serialize(out)
		}
		if err == nil {
			err = out.Close()
		}
		if err != nil {
			panic(err)
		}
	})
	return text.String()
}
