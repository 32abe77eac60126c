package server

import (
	"crypto/rand"

	"promoter/internal/secret"
	"promoter/internal/webhook"
)

// newDecoy makes a receiver that nobody can prove anything to: its secret is known
// to none. It costs as much as one that signs its bodies.
func newDecoy() (*webhook.Receiver, error) {
	return webhook.New(webhook.Options{Kind: "github", Secret: secret.New(rand.Text())})
}
