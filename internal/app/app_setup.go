package app

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/secret"
	"promoter/internal/server"
)

// minSetup is how long the secret of a set-up is at least, in bytes.
const minSetup = 32

// errNoApp says that a receiver waits for the App that sends to it.
var errNoApp = errors.New("there is no App yet that sends webhooks to it")

// appSecret is what the App signs its webhooks with that a forge has by setup.
func appSecret(s *connect.Server, forge string) (secret.String, error) {
	folder := s.AppFolder(forge)
	_, err := folder.Read()
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return secret.String{}, fault.Wrap(fault.Invalid, errNoApp)
	case err != nil:
		return secret.String{}, err
	}
	return folder.Secret(connect.AppHookSecretFile, s.SecretSources())
}

// receiverSecret is what signs the webhooks of a receiver: a secret of the file, or
// that of an App.
func receiverSecret(s *connect.Server, entry serverconfig.Receiver) (secret.String, error) {
	if entry.App != "" {
		return appSecret(s, entry.App)
	}
	return s.Secret(entry.Secret)
}

// setups are the pages on which Apps are made. A forge that has its App needs the
// secret no more.
func (s *service) setups() ([]*server.Setup, error) {
	var all []*server.Setup
	for _, forge := range s.file.Forges {
		if forge.App == nil || forge.App.Setup.IsZero() {
			continue
		}
		made, err := s.setup(forge)
		if _, none := s.server.AppFolder(forge.Name).Read(); err != nil && none == nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}

func (s *service) setup(forge serverconfig.Forge) (*server.Setup, error) {
	word, err := setupSecret(s.server, forge)
	if err != nil {
		return nil, err
	}
	maker, err := newAppMaker(s.connections, forge.URL)
	if err != nil {
		return nil, err
	}
	maker.folder, maker.organization = s.server.AppFolder(forge.Name), forge.App.Organization
	maker.manifest.Name = appName(forge.App.Organization, s.file.URL)
	maker.manifest.Homepage, maker.manifest.Redirect = s.file.URL, s.file.URL+server.SetupCallbackPath(forge.Name)
	receiver, hooked := receiverOfApp(s.file, forge.Name)
	if hooked {
		maker.manifest.Hook = s.file.URL + hookPath(receiver.Name)
	}
	maker.kept = func(kept connect.StoredApp) []string { return s.appMade(forge.Name, kept) }
	return &server.Setup{Name: forge.Name, Secret: word, Creator: maker}, nil
}

// setupSecret fetches the secret of the page of a forge.
func setupSecret(s *connect.Server, forge serverconfig.Forge) (secret.String, error) {
	word, err := s.Secret(forge.App.Setup)
	const advice = "make one with openssl rand -hex 32"
	switch {
	case err != nil:
	case len(word.Reveal()) < minSetup:
		err = fault.New(fault.Invalid, "app.setup of %s (%s) is shorter than %d characters: "+advice, forge.Name, forge.App.Setup, minSetup)
	case url.PathEscape(word.Reveal()) != word.Reveal(): // whoever pastes it behind the address finds nothing there
		err = fault.New(fault.Invalid, "app.setup of %s (%s) has characters that mean something else in an address: "+advice, forge.Name, forge.App.Setup)
	}
	return word, err
}

// wantedSetup is the reference to that secret, as long as it is needed.
func wantedSetup(s *connect.Server, forge serverconfig.Forge) serverconfig.Reference {
	if _, err := s.AppFolder(forge.Name).Read(); err == nil {
		return serverconfig.Reference{}
	}
	return forge.App.Setup
}

// hookPath is where a receiver takes webhooks.
func hookPath(receiver string) string { return "/webhooks/" + receiver }

// receiverOfApp finds the receiver that the App of a forge sends to.
func receiverOfApp(file *serverconfig.Config, forge string) (serverconfig.Receiver, bool) {
	for _, entry := range file.Receivers {
		if entry.App == forge {
			return entry, true
		}
	}
	return serverconfig.Receiver{}, false
}

// appMade takes an App into use: its webhooks at once, its repositories with the next
// round, which GitHub's word about the installation brings.
func (s *service) appMade(forge string, kept connect.StoredApp) []string {
	s.Log.Info("a GitHub App was made", slog.String("forge", forge), slog.String("app", kept.Slug), slog.Int64("id", kept.ID), slog.String("owner", kept.Owner))
	s.rounds.outdate()
	const waits = "promoter sees the repositories with the next poll."
	entry, hooked := receiverOfApp(s.file, forge)
	if !hooked {
		return []string{"Nothing needs to be restarted.", waits}
	}
	receiver, err := newReceiver(s.server, entry, http.DefaultClient) // no sender of this kind asks anybody
	if err != nil {
		s.Log.Error("the webhooks of the App are not taken", slog.Any("error", err))
		return []string{"Restart promoter: its webhooks could not be taken into use. The log says why."}
	}
	s.http.Add(receiver)
	return []string{"Nothing needs to be restarted: GitHub tells promoter where you install it, and it begins to work there."}
}
