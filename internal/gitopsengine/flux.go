package gitopsengine

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Flux is a Receiver of Flux, of type generic-hmac or generic.
// https://fluxcd.io/flux/components/notification/receivers/
type Flux struct {
	URL             string // of the notification controller, without a slash at the end
	Namespace, Name string // of the Receiver
	Token           secret.String
	HTTP            *http.Client // bounded in time
}

// Landing is the body of a request. A Receiver may select resources by it.
type Landing struct {
	Repository  string `json:"repository"` // HOST/OWNER/NAME
	Environment string `json:"environment"`
}

// Post lets Flux reconcile the resources of the Receiver.
func (f Flux) Post(ctx context.Context, landing Landing) error {
	body, err := json.Marshal(landing)
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.URL+f.path(), bytes.NewReader(body))
	if err != nil {
		return fault.Wrap(fault.Invalid, err)
	}
	signature := hmac.New(sha256.New, []byte(f.Token.Reveal()))
	signature.Write(body)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Signature", "sha256="+hex.EncodeToString(signature.Sum(nil)))
	response, err := f.HTTP.Do(request)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // the other part of its text is the path
		}
		return fmt.Errorf("trigger the Receiver %s/%s: %w", f.Namespace, f.Name, err)
	}
	defer response.Body.Close() //nolint:errcheck // it is not read
	switch status := response.StatusCode; {
	case status == http.StatusOK:
		return nil
	case status == http.StatusNotFound:
		return fault.New(fault.NotFound, "Flux has no Receiver %s/%s with this token: HTTP 404", f.Namespace, f.Name)
	case status == http.StatusBadRequest || status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fault.New(fault.Unauthorized, "the Receiver %s/%s refuses the request: HTTP %d: its type must be generic-hmac",
			f.Namespace, f.Name, status)
	case status < http.StatusInternalServerError:
		return fault.New(fault.Invalid, "Flux answers with HTTP %d: url must be that of its notification controller", status)
	default:
		return fault.New(fault.Temporary, "the Receiver %s/%s: HTTP %d", f.Namespace, f.Name, status)
	}
}

// path returns the path of the Receiver. It is a secret: a Receiver of type generic accepts every
// request there.
// https://github.com/fluxcd/notification-controller/blob/main/api/v1/receiver_types.go: GetWebhookPath
func (f Flux) path() string {
	sum := sha256.Sum256([]byte(f.Token.Reveal() + f.Name + f.Namespace))
	return "/hook/" + hex.EncodeToString(sum[:])
}
