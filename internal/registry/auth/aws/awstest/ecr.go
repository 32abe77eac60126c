package awstest

import (
	"encoding/base64"
	"fmt"
	"net/http"
)

// login is GetAuthorizationToken of one of the registries.
func (a *Account) login(w http.ResponseWriter, r *http.Request, region, service string) {
	body := a.body(r)
	target := "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken"
	if service == "ecr-public" {
		target = "SpencerFrontendService.GetAuthorizationToken"
	}
	if r.Method != http.MethodPost || r.URL.Path != "/" || r.Header.Get("X-Amz-Target") != target || r.Header.Get("Content-Type") != "application/x-amz-json-1.1" || body != "{}" {
		a.t.Errorf("%s got %s %s for %q: %s", service, r.Method, r.URL.Path, r.Header.Get("X-Amz-Target"), body)
	}
	if code := a.verify(r, body, region, service); code != "" {
		deny(w, http.StatusBadRequest, code, "the signature of "+r.Header.Get("Authorization"))
		return
	}
	if a.Denied[service+":GetAuthorizationToken"] {
		deny(w, http.StatusBadRequest, "AccessDeniedException", "canary-message")
		return
	}
	a.mutex.Lock()
	a.logins++
	n := a.logins
	a.mutex.Unlock()
	token := base64.StdEncoding.EncodeToString([]byte("AWS:" + Password(n)))
	ends := float64(a.now().Add(a.Life).UnixMilli()) / 1000
	one := fmt.Sprintf(`{"authorizationToken":%q,"expiresAt":%.3f,"proxyEndpoint":"https://123456789012.dkr.ecr.%s.amazonaws.com"}`, token, ends, region)
	if service == "ecr" {
		one = "[" + one + "]"
	}
	_, _ = fmt.Fprintf(w, `{"authorizationData":%s}`, one)
}
