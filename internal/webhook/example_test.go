package webhook_test

import (
	"context"
	"fmt"
	"net/http"

	"promoter/internal/secret"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
)

// A receiver verifies a request and decodes its events. A wrong credential is an error.
func ExampleReceiver_Receive() {
	receiver, err := webhook.New(webhook.Options{
		Name: "ci", Kind: "generic", Credential: credential.Options{Header: "X-Token", Secret: secret.New("the secret of the pipeline")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	body := []byte(`{"image": "quay.io/acme/web:1.5.0"}`)
	for _, token := range []string{"the secret of the pipeline", "another one"} {
		request := webhook.Request{Header: http.Header{"X-Token": {token}}, Body: body}
		delivery, err := receiver.Receive(context.Background(), request)
		if err != nil {
			fmt.Println("refused:", err)
			continue
		}
		for _, event := range delivery.Events {
			fmt.Println(delivery.EventType, event)
		}
	}
	// Output:
	// push image quay.io/acme/web:1.5.0
	// refused: unknown receiver, or a wrong or missing credential
}
