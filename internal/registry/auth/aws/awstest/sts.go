package awstest

import (
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// sts is the token service of a region.
func (a *Account) sts(w http.ResponseWriter, r *http.Request, region string) {
	body, form := a.form(r)
	action := form.Get("Action")
	if form.Get("Version") != "2011-06-15" || form.Get("RoleSessionName") == "" || r.Method != http.MethodPost {
		a.t.Errorf("STS got %s with %q", r.Method, form.Encode())
	}
	switch action {
	case "AssumeRoleWithWebIdentity":
		if r.Header.Get("Authorization") != "" {
			a.t.Error("a request with a web identity is signed")
		}
		if form.Get("WebIdentityToken") != WebToken {
			a.refuse(w, http.StatusBadRequest, "InvalidIdentityToken", "token "+form.Get("WebIdentityToken"))
			return
		}
	case "AssumeRole":
		if code := a.verify(r, body, region, "sts"); code != "" {
			a.refuse(w, http.StatusForbidden, code, "signature of "+r.Header.Get("Authorization"))
			return
		}
	default:
		a.refuse(w, http.StatusBadRequest, "InvalidAction", action)
		return
	}
	if !trusted(form.Get("RoleArn")) || a.Denied["sts:"+action] {
		a.refuse(w, http.StatusForbidden, "AccessDenied", form.Get("RoleArn"))
		return
	}
	id, made := a.session()
	_, _ = fmt.Fprintf(w, `<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult>`+
		`<AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/reader/promoter</Arn></AssumedRoleUser>`+
		`<Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>%s</Expiration></Credentials>`+
		`</%[1]sResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></%[1]sResponse>`,
		action, id, made.secret, made.session, made.until.Format(time.RFC3339))
}

// refuse responds as the query protocol does.
func (a *Account) refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>`, code, message)
}

func (a *Account) form(r *http.Request) (string, url.Values) {
	body := a.body(r)
	form, err := url.ParseQuery(body)
	if err != nil || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		a.t.Errorf("STS got %q: %v", r.Header.Get("Content-Type"), err)
	}
	return body, form
}
