package config

import (
	"net/http"
	"slices"
	"strings"
)

// credentialKeys says which credentials each sender can give. The first is the
// one that is advised.
func credentialKeys(kind string) []string {
	switch kind {
	case "dockerhub", "quay":
		return []string{"pathSecret"}
	case "gar":
		return []string{"audience", "pathSecret"}
	case "github":
		return []string{"secret", "app"}
	default:
		return []string{"secret"}
	}
}

// headerKinds are the senders that let people choose the header of the secret.
func headerKinds() []string {
	return []string{"acr", "argocd", "cdevents", "distribution", "ecr", "generic", "harbor", "snapshot", "zot"}
}

func (l *serverLoader) receivers() {
	l.validNames("receiver", l.raw.Receivers.names())
	for _, e := range l.raw.Receivers.Entries {
		if !e.Value.bad {
			l.server.Receivers = append(l.server.Receivers, l.receiver(e.Key, e.Value))
		}
	}
}

func (l *serverLoader) receiver(name at[string], raw *rawReceiver) Receiver {
	receiver := Receiver{
		Position: name.Position, Name: name.Value, Kind: ReceiverKind(raw.Kind.Value),
		Secret: l.reference(raw.Secret, "secret"), PathSecret: l.reference(raw.PathSecret, "pathSecret"),
		App: raw.App.Value, Header: raw.Header.Value, Audience: raw.Audience.Value, Email: raw.Email.Value, Anonymous: raw.Anonymous.Value,
	}
	if !raw.Kind.set() {
		l.failf(name.Position, "add kind: the sender", "the receiver %s has no kind", name.Value)
		return receiver
	}
	if raw.Kind.ok() {
		l.receiverCredential(name, raw)
		l.receiverApp(name, raw)
		l.receiverHeader(raw)
	}
	if raw.Secret.set() && receiver.Header == "" && slices.Contains(headerKinds(), raw.Kind.Value) {
		receiver.Header = DefaultHeader
	}
	return receiver
}

// receiverCredential wants exactly one credential, of a kind that the sender can
// give. Credentials are required unless the file says that there is none.
func (l *serverLoader) receiverCredential(name at[string], raw *rawReceiver) {
	allowed := credentialKeys(raw.Kind.Value)
	var found []string
	for _, key := range []struct {
		key string
		place
	}{{"secret", raw.Secret.place}, {"pathSecret", raw.PathSecret.place}, {"app", raw.App.place}, {"audience", raw.Audience.place}} {
		if !key.set() {
			continue
		}
		if !slices.Contains(allowed, key.key) {
			l.failf(key.Position, "use "+strings.Join(allowed, " or "), "%s cannot be sent by %s", key.key, raw.Kind.Value)
		}
		if found = append(found, key.key); len(found) == 2 {
			l.failf(key.Position, "keep one of them", "the receiver %s has both %s and %s", name.Value, found[0], found[1])
		}
	}
	switch {
	case raw.Anonymous.Value && len(found) > 0:
		l.failf(raw.Anonymous.Position, "remove anonymous", "the receiver %s is anonymous and has %s", name.Value, found[0])
	case !raw.Anonymous.Value && len(found) == 0:
		l.failf(name.Position, "add "+allowed[0]+", or anonymous: true", "the receiver %s takes webhooks from anybody", name.Value)
	}
	if raw.Audience.set() != raw.Email.set() {
		l.failf(orPlace(raw.Audience.place, raw.Email.place), "write both", "the receiver %s has only one of audience and email", name.Value)
	}
}

func (l *serverLoader) receiverHeader(raw *rawReceiver) {
	switch {
	case !raw.Header.ok():
	case !slices.Contains(headerKinds(), raw.Kind.Value):
		l.failf(raw.Header.Position, "remove header", "%s chooses the header itself", raw.Kind.Value)
	case raw.Header.Value == "" || strings.ContainsFunc(raw.Header.Value, notToken):
		l.failf(raw.Header.Position, "write letters, digits and dashes", "header is not the name of an HTTP header")
	default:
		raw.Header.Value = http.CanonicalHeaderKey(raw.Header.Value)
	}
}

func notToken(r rune) bool {
	return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
