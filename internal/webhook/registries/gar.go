package registries

import (
	"cmp"
	"encoding/json"
	"strings"

	"promoter/internal/event"
	"promoter/internal/fault"
	"promoter/internal/webhook/payload"
)

// garChange is a message of the topic gcr, which Artifact Registry and Container
// Registry publish to.
// https://cloud.google.com/artifact-registry/docs/configure-notifications
type garChange struct {
	Action string `json:"action"`
	Digest string `json:"digest"` // HOST/PATH@DIGEST
	Tag    string `json:"tag"`    // HOST/PATH:TAG; absent for an untagged image
}

// GAR decodes a Pub/Sub push request: the message in an envelope, or with "payload
// unwrapping" the message alone.
// https://cloud.google.com/pubsub/docs/push#receive_push
// https://cloud.google.com/pubsub/docs/payload-unwrapping
func GAR(r payload.Request) (payload.Delivery, error) {
	pushed, err := payload.Read[struct {
		Message *struct {
			ID   string `json:"messageId"`
			Data []byte `json:"data"` // in Base64
		} `json:"message"`
		garChange
	}](r)
	switch {
	case err != nil:
		return payload.Delivery{}, err
	case pushed.Message == nil && pushed.Action != "":
		return pushed.delivery(r.Header.Get("X-Goog-Pubsub-Message-Id"))
	case pushed.Message == nil || len(pushed.Message.Data) == 0:
		return payload.Delivery{}, payload.Missing("message.data")
	}
	var change garChange
	if err := json.Unmarshal(pushed.Message.Data, &change); err != nil {
		return payload.Delivery{}, fault.New(fault.Invalid, "its message.data is not JSON: %w", err)
	}
	return change.delivery(pushed.Message.ID)
}

func (c garChange) delivery(id string) (payload.Delivery, error) {
	if c.Action != "INSERT" {
		return payload.Ignored(c.Action, "only inserted images matter")
	}
	e, ok := payload.ReferenceEvent(cmp.Or(c.Tag, c.Digest))
	if !ok {
		return payload.Delivery{}, fault.New(fault.Invalid, "it has neither digest nor tag")
	}
	_, e.Image.Digest, _ = strings.Cut(c.Digest, "@")
	return payload.Delivery{ID: id, EventType: c.Action, Events: []event.Event{e}}, nil
}
