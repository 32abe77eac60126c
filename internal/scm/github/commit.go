package github

import (
	"context"
	"encoding/base64"
	"unicode/utf8"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// deletedMode is the mode of an entry that deletes a file, which GitHub requires too.
const deletedMode = "100644"

// Commit makes a commit as the App. GitHub signs it because it names no author and no
// committer: GitHub writes the account of the App, and itself. No branch moves.
// https://docs.github.com/en/authentication/managing-commit-signature-verification/about-commit-signature-verification#signature-verification-for-bots
func (r *repository) Commit(ctx context.Context, commit scm.NewCommit) (scm.SignedCommit, error) {
	noun := r.noun("signed commit")
	if r.forge.app == nil {
		return scm.SignedCommit{}, fault.New(fault.Invalid, "%s: GitHub signs only commits of a GitHub App", noun)
	}
	var entries []*gogithub.TreeEntry
	for _, file := range commit.Files {
		entry, err := r.entry(ctx, file)
		if err != nil {
			return scm.SignedCommit{}, explain(noun, err)
		}
		entries = append(entries, entry)
	}
	tree, _, err := r.forge.api.Git.CreateTree(ctx, r.owner, r.name, commit.Base, entries)
	if err != nil {
		return scm.SignedCommit{}, explain(noun, err)
	}
	if tree.GetSHA() != commit.Tree {
		return scm.SignedCommit{}, fault.New(fault.Invalid,
			"%s: GitHub made the tree %s of its files, not %s", noun, rest.OneLine(tree.GetSHA()), commit.Tree)
	}
	wanted := &gogithub.Commit{Message: &commit.Message, Tree: tree}
	for _, parent := range commit.Parents {
		wanted.Parents = append(wanted.Parents, &gogithub.Commit{SHA: &parent})
	}
	made, _, err := r.forge.api.Git.CreateCommit(ctx, r.owner, r.name, wanted, nil)
	if err != nil {
		return scm.SignedCommit{}, explain(noun, err)
	}
	verified := made.GetVerification()
	if !verified.GetVerified() {
		const advice = "on GitHub Enterprise Server, enable web commit signing; or set signing.key instead of signing.githubApp"
		why := rest.OneLine(verified.GetReason())
		return scm.SignedCommit{}, fault.New(fault.Invalid, "%s: GitHub did not sign it (%s): "+advice, noun, why)
	}
	return scm.SignedCommit{ID: made.GetSHA(), Payload: verified.GetPayload(), Signature: verified.GetSignature()}, nil
}

// entry returns the entry of a file. JSON has no other text than UTF-8, so other content is a
// request of its own.
func (r *repository) entry(ctx context.Context, file scm.NewFile) (*gogithub.TreeEntry, error) {
	entry := &gogithub.TreeEntry{Path: &file.Path, Mode: &file.Mode, Type: gogithub.String("blob")}
	switch {
	case file.Mode == "":
		entry.Mode = gogithub.String(deletedMode)
	case utf8.Valid(file.Content):
		entry.Content = gogithub.String(string(file.Content))
	default:
		blob, _, err := r.forge.api.Git.CreateBlob(ctx, r.owner, r.name, &gogithub.Blob{
			Content: gogithub.String(base64.StdEncoding.EncodeToString(file.Content)), Encoding: gogithub.String("base64"),
		})
		if err != nil {
			return nil, err
		}
		entry.SHA = blob.SHA
	}
	return entry, nil
}
