package serverfile

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/glob"
	"promoter/internal/secret"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
)

// WebhookPath returns the path at which a receiver accepts webhooks.
func WebhookPath(receiver string) string { return "/webhooks/" + receiver }

// ErrNoApp is the error of a receiver whose App does not exist yet.
var ErrNoApp = errors.New("there is no App yet that sends webhooks to it")

// ErrPollOnly is the error of a receiver that accepts no webhooks.
var ErrPollOnly = errors.New("it has no credential: it only polls")

// NewReceiver makes a receiver of the file. It sends no request; client is for
// receivers that fetch keys to verify webhooks.
func (s *Server) NewReceiver(entry serverconfig.Receiver, client *http.Client) (*webhook.Receiver, error) {
	proof := credential.Options{
		Header: entry.Header, Audience: entry.Audience, Email: entry.Email, Anonymous: entry.Anonymous, HTTP: client, Now: s.Now,
	}
	if entry.Poll != nil && entry.Secret.IsZero() {
		return nil, ErrPollOnly
	}
	var err error
	if proof.Secret, err = receiverSecret(s, entry); err != nil {
		return nil, fmt.Errorf("receiver %s: %w", entry.Name, err)
	}
	if proof.PathSecret, err = s.Secret(entry.PathSecret); err != nil {
		return nil, fmt.Errorf("receiver %s: %w", entry.Name, err)
	}
	if proof.Secret, err = ofReceiver(proof.Secret, entry.Name, "secret", minReceiverSecret); err != nil {
		return nil, err
	}
	if proof.PathSecret, err = ofReceiver(proof.PathSecret, entry.Name, "pathSecret", credential.MinPathSecret); err != nil {
		return nil, err
	}
	return webhook.New(webhook.Options{Name: entry.Name, Kind: entry.Kind, Posts: len(entry.Snapshots) > 0, Credential: proof})
}

// minReceiverSecret is the minimum length of a secret that signs webhooks or is sent with
// them, in characters: with one signed webhook, an attacker can try secrets offline.
const minReceiverSecret = 16

// ofReceiver returns a secret of a receiver with a minimum length, if there is one.
func ofReceiver(s secret.String, receiver, key string, length int) (secret.String, error) {
	if s.IsZero() {
		return s, nil
	}
	problem := fmt.Sprintf("receiver %s: its %s has fewer than %d characters", receiver, key, length)
	return atLeast(s, "receiver "+receiver+", "+key, length, problem)
}

// receiverSecret returns what signs the webhooks of a receiver: a secret of the file,
// or the stored secret of the App that promoter created.
func receiverSecret(s *Server, entry serverconfig.Receiver) (secret.String, error) {
	if entry.App == "" {
		return s.Secret(entry.Secret)
	}
	folder := s.AppFolder(entry.App)
	switch _, err := folder.Read(); {
	case fault.KindOf(err) == fault.NotFound:
		return secret.String{}, fault.Wrap(fault.Invalid, ErrNoApp)
	case err != nil:
		return secret.String{}, err
	}
	return folder.Secret(AppHookSecretFile, s.SecretSources())
}

// MayPost reports whether a receiver may post snapshots of an application of a repository;
// an empty application: of any. Matches reports whether globs name the repository.
func (s *Server) MayPost(receiver string, matches func(globs []string) bool, application string) bool {
	return slices.ContainsFunc(s.File.Receivers, func(entry serverconfig.Receiver) bool {
		return entry.Name == receiver && slices.ContainsFunc(entry.Snapshots, func(scope serverconfig.Scope) bool {
			applies := application == "" || scope.Applications == nil || glob.MatchAnyName(scope.Applications, application)
			return applies && matches(scope.Repositories)
		})
	})
}

// AppReceiver returns the receiver to which the App of a forge sends webhooks.
func AppReceiver(file *serverconfig.Config, forge string) (serverconfig.Receiver, bool) {
	i := slices.IndexFunc(file.Receivers, func(r serverconfig.Receiver) bool { return r.App == forge })
	if i < 0 {
		return serverconfig.Receiver{}, false
	}
	return file.Receivers[i], true
}
