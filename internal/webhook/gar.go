package webhook

import (
	"encoding/json"
	"strings"

	"promoter/internal/event"
	"promoter/internal/fault"
)

// gar reads what Pub/Sub pushes of the topic gcr, which Artifact Registry and
// Container Registry publish to.
// https://cloud.google.com/artifact-registry/docs/configure-notifications
// https://cloud.google.com/pubsub/docs/push#receive_push
func gar(r Request) (Delivery, error) {
	pushed, err := read[struct {
		Message struct {
			ID   string `json:"messageId"`
			Data []byte `json:"data"` // in Base64
		} `json:"message"`
	}](r)
	if err != nil {
		return Delivery{}, err
	}
	if len(pushed.Message.Data) == 0 {
		return Delivery{}, lacks("message.data")
	}
	var change struct {
		Action string `json:"action"`
		Digest string `json:"digest"` // HOST/PATH@DIGEST
		Tag    string `json:"tag"`    // HOST/PATH:TAG; not there for an untagged image
	}
	if err := json.Unmarshal(pushed.Message.Data, &change); err != nil {
		return Delivery{}, fault.New(fault.Invalid, "its message.data is no JSON: %w", err)
	}
	if change.Action != "INSERT" {
		return ignored(change.Action, "only what is inserted matters")
	}
	hint, ok := referenceHint(firstOf(change.Tag, change.Digest))
	if !ok {
		return Delivery{}, lacks("digest and no tag")
	}
	_, hint.Image.Digest, _ = strings.Cut(change.Digest, "@")
	return Delivery{ID: pushed.Message.ID, Event: change.Action, Hints: []event.Hint{hint}}, nil
}
