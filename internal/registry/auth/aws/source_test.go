package aws_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/registry/auth/authtest"
	"promoter/internal/registry/auth/aws"
	"promoter/internal/registry/auth/aws/awstest"
)

const (
	region = "eu-central-1"
	host   = "123456789012.dkr.ecr.eu-central-1.amazonaws.com"
)

// scene is a machine and an account.
type scene struct {
	*authtest.World
	account *awstest.Account
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{World: authtest.New(t)}
	s.account = awstest.New(t, time.Now)
	s.Serve(s.account.Vendor(region), s.account.Local())
	return s
}

func (s *scene) user() {
	s.Env["AWS_ACCESS_KEY_ID"], s.Env["AWS_SECRET_ACCESS_KEY"] = awstest.UserID, awstest.UserSecret
}

func (s *scene) source(t *testing.T, host, role string) *aws.Source {
	t.Helper()
	source, err := aws.New(s.Machine(), host, role)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// login logs in and compares the login with the account.
func (s *scene) login(t *testing.T, host, role string) {
	t.Helper()
	username, password, expires, err := s.source(t, host, role).Login(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := awstest.Password(s.account.Logins()); username != "AWS" || password.Reveal() != want || !expires.Equal(time.Now().Add(12*time.Hour)) {
		t.Errorf("login %s %s until %s, want AWS %s", username, password.Reveal(), expires, want)
	}
}

func TestLogin_everyIdentity(t *testing.T) {
	t.Parallel()
	const (
		ecr  = "POST api.ecr.eu-central-1.amazonaws.com /"
		sts  = "POST sts.eu-central-1.amazonaws.com /"
		imds = " 169.254.169.254 /latest/"
	)
	machine := []string{"PUT" + imds + "api/token", "GET" + imds + "meta-data/iam/security-credentials/", "GET" + imds + "meta-data/iam/security-credentials/machine-role"}
	for _, tc := range []struct {
		name  string
		env   map[string]string
		files map[string]string
		role  string
		asked []string
	}{
		{name: "variables", env: map[string]string{"AWS_ACCESS_KEY_ID": awstest.UserID, "AWS_SECRET_ACCESS_KEY": awstest.UserSecret}, asked: []string{ecr}},
		{name: "variables and a role", env: map[string]string{"AWS_ACCESS_KEY_ID": awstest.UserID, "AWS_SECRET_ACCESS_KEY": awstest.UserSecret}, role: awstest.Role, asked: []string{sts, ecr}},
		{
			name: "a service account of Kubernetes", asked: []string{sts, ecr},
			env:   map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "/var/run/token", "AWS_ROLE_ARN": awstest.Role},
			files: map[string]string{"/var/run/token": awstest.WebToken + "\n"},
		},
		{
			name: "a service account of Kubernetes and a role", asked: []string{sts, sts, ecr}, role: awstest.Role,
			env:   map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "/var/run/token", "AWS_ROLE_ARN": awstest.Role},
			files: map[string]string{"/var/run/token": awstest.WebToken},
		},
		{name: "an ECS task", env: map[string]string{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/1234"}, asked: []string{"GET 169.254.170.2 /v2/credentials/1234", ecr}},
		{
			name: "EKS Pod Identity", asked: []string{"GET 169.254.170.23 /v1/credentials", ecr},
			env: map[string]string{
				"AWS_CONTAINER_CREDENTIALS_FULL_URI":     "http://169.254.170.23/v1/credentials",
				"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/var/run/pod",
			},
			files: map[string]string{"/var/run/pod": awstest.AgentToken},
		},
		{name: "a virtual machine", asked: append(machine, ecr)},
		{name: "a virtual machine and a role", role: awstest.Role, asked: append(machine, sts, ecr)},
		{
			name: "a profile with keys", asked: []string{ecr}, env: map[string]string{"HOME": "/root"},
			files: map[string]string{"/root/.aws/credentials": "[default]\naws_access_key_id = AKIAUSER\naws_secret_access_key=canary-user-secret # mine\n"},
		},
		{
			name: "a profile with a role and a source", asked: []string{sts, ecr},
			env: map[string]string{"AWS_PROFILE": "prod", "AWS_CONFIG_FILE": "/c", "AWS_SHARED_CREDENTIALS_FILE": "/s"},
			files: map[string]string{
				"/c": "[profile prod]\nrole_arn = " + awstest.Role + "\nsource_profile = base\n",
				"/s": "[base]\naws_access_key_id=AKIAUSER\naws_secret_access_key=canary-user-secret\n",
			},
		},
		{
			name: "a profile with the role of the machine", asked: append(machine, sts, ecr),
			env:   map[string]string{"AWS_CONFIG_FILE": "/c"},
			files: map[string]string{"/c": "[default]\nrole_arn = " + awstest.Role + "\ncredential_source = Ec2InstanceMetadata\n"},
		},
		{
			name: "a profile that says only a region", asked: append(machine, ecr), env: map[string]string{"HOME": "/root"},
			files: map[string]string{"/root/.aws/config": "[default]\nregion = eu-west-1\n"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				if tc.env != nil {
					s.Env = tc.env
				}
				if tc.files != nil {
					s.Files = tc.files
				}
				s.login(t, host, tc.role)
				if diff := cmp.Diff(tc.asked, s.Calls()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestLogin_everyHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string][]string{
		host: {"POST api.ecr.eu-central-1.amazonaws.com /"},
		"123456789012.dkr.ecr-fips.us-east-1.amazonaws.com": {"POST api.ecr-fips.us-east-1.amazonaws.com /"},
		"123456789012.dkr-ecr.eu-central-1.on.aws":          {"POST ecr.eu-central-1.api.aws /"},
		"123456789012.dkr-ecr-fips.us-east-1.on.aws":        {"POST ecr-fips.us-east-1.api.aws /"},
		"public.ecr.aws":     {"POST api.ecr-public.us-east-1.amazonaws.com /"},
		"ecr-public.aws.com": {"POST ecr-public.us-east-1.api.aws /"},
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				s.Serve(s.account.Vendor("us-east-1"), nil)
				s.user()
				s.login(t, host, "")
				if diff := cmp.Diff(want, s.Calls()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestLogin_otherPartition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.Serve(s.account.Vendor("cn-north-1"), nil)
		s.user()
		s.login(t, "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn", "arn:aws-cn:iam::123456789012:role/reader")
		if diff := cmp.Diff([]string{"POST sts.cn-north-1.amazonaws.com.cn /", "POST api.ecr.cn-north-1.amazonaws.com.cn /"}, s.Calls()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestNew_refusesOtherHosts(t *testing.T) {
	t.Parallel()
	for _, host := range []string{
		"", "amazonaws.com", "1234.dkr.ecr.eu-central-1.amazonaws.com", "123456789012.dkr.ecr.eu-central-1.amazonaws.com.evil.test",
		"123456789012.dkr.ecr..amazonaws.com", "123456789012.dkr.ecr.eu-central-1/x.amazonaws.com", "evil.test", "public.ecr.aws.evil.test",
		"123456789012.dkr.ecr.eu-central-1.on.aws", "123456789012.dkr.ecr.eu-central-1.amazonaws.com:8443",
	} {
		if _, err := aws.New(newScene(t).Machine(), host, ""); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", host, err)
		}
	}
}

func TestLogin_refused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		set   func(*scene)
		role  string
		kind  fault.Kind
		words string
	}{
		{"a wrong secret", func(s *scene) { s.user(); s.Env["AWS_SECRET_ACCESS_KEY"] = "canary-wrong" }, "", fault.Unauthorized, "ECR login in eu-central-1: 400 InvalidSignatureException: allow ecr:GetAuthorizationToken"},
		{"no right", func(s *scene) { s.user(); s.account.Denied["ecr:GetAuthorizationToken"] = true }, "", fault.Unauthorized, "AccessDeniedException: allow ecr:GetAuthorizationToken to the identity"},
		{"a clock that is wrong", func(s *scene) { s.user(); s.account.Ahead = time.Hour }, "", fault.Unauthorized, "InvalidSignatureException"},
		{"a role that does not trust us", (*scene).user, "arn:aws:iam::1:role/other", fault.Unauthorized, "AWS role: 403 AccessDenied: allow sts:AssumeRole on arn:aws:iam::1:role/other"},
		{"a web identity that nobody knows", func(s *scene) {
			s.Env = map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "/t", "AWS_ROLE_ARN": awstest.Role}
			s.Files["/t"] = "canary-wrong"
		}, "", fault.Unauthorized, "AWS web identity: 400 InvalidIdentityToken"},
		{"a web identity without a role", func(s *scene) { s.Env["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/t" }, "", fault.Invalid, "without AWS_ROLE_ARN"},
		{"a web identity without a file", func(s *scene) {
			s.Env = map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "/t", "AWS_ROLE_ARN": awstest.Role}
		}, "", fault.Invalid, "AWS web identity: open /t: file does not exist"},
		{"an agent that wants another token", func(s *scene) {
			s.Env["AWS_CONTAINER_CREDENTIALS_FULL_URI"], s.Env["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "http://169.254.170.23/v1/credentials", "canary-wrong"
		}, "", fault.Unauthorized, "pod identity association"},
		{"an agent elsewhere", func(s *scene) { s.Env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://10.0.0.1/x" }, "", fault.Invalid, "is not a service of this machine"},
		{"an agent at a name", func(s *scene) { s.Env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://metadata.evil.test/x" }, "", fault.Invalid, "is not a service of this machine"},
		{"no metadata service", func(s *scene) { s.Env["AWS_EC2_METADATA_DISABLED"] = "true" }, "", fault.Invalid, "none are set up here"},
		{"a profile that starts a program", func(s *scene) {
			s.Env["AWS_CONFIG_FILE"], s.Files["/c"] = "/c", "[default]\ncredential_process = /bin/sh -c 'touch /tmp/x'\n"
		}, "", fault.Invalid, "credential_process is not supported: promoter runs no program"},
		{"a profile for a person", func(s *scene) {
			s.Env["AWS_CONFIG_FILE"], s.Files["/c"] = "/c", "[default]\nsso_start_url = https://x\n"
		}, "", fault.Invalid, "sso_start_url is not supported"},
		{"a profile that is not there", func(s *scene) { s.Env["AWS_PROFILE"] = "prod" }, "", fault.Invalid, `AWS_PROFILE names "prod"`},
		{"a config file that is not there", func(s *scene) { s.Env["AWS_CONFIG_FILE"] = "/c" }, "", fault.Invalid, "file does not exist"},
		{"profiles in a circle", func(s *scene) {
			s.Env["AWS_CONFIG_FILE"] = "/c"
			s.Files["/c"] = "[default]\nrole_arn=" + awstest.Role + "\nsource_profile=b\n[profile b]\nrole_arn=" + awstest.Role + "\nsource_profile=default\n"
		}, "", fault.Invalid, "more than 5 profiles"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			tc.set(s)
			_, _, _, err := s.source(t, host, tc.role).Login(t.Context())
			if fault.KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("err = %v (%s), want %s: …%s…", err, fault.KindOf(err), tc.kind, tc.words)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the error contains a secret: %v", err)
			}
		})
	}
}

func TestLogin_invalidResponses(t *testing.T) {
	t.Parallel()
	say := func(status int, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, body)
		})
	}
	for name, tc := range map[string]struct {
		handler http.Handler
		kind    fault.Kind
	}{
		"nothing":          {say(200, ""), fault.Temporary},
		"no JSON":          {say(200, "<html>"), fault.Temporary},
		"no login":         {say(200, `{"authorizationData":[]}`), fault.Temporary},
		"no base64":        {say(200, `{"authorizationData":[{"authorizationToken":"%%%"}]}`), fault.Temporary},
		"no password":      {say(200, `{"authorizationData":[{"authorizationToken":"QVdT"}]}`), fault.Temporary},
		"oversize":         {say(200, `{"authorizationData":"`+strings.Repeat("a", 2<<20)+`"}`), fault.Invalid},
		"500":              {say(500, `{"__type":"ServerException"}`), fault.Temporary},
		"throttled":        {say(400, `{"__type":"ThrottlingException"}`), fault.RateLimited},
		"elsewhere":        {say(302, ``), fault.Invalid},
		"words, not codes": {say(400, `{"__type":"canary canary"}`), fault.Unauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.user()
			s.Vendor["api.ecr.eu-central-1.amazonaws.com"] = tc.handler
			_, _, _, err := s.source(t, host, "").Login(t.Context())
			if fault.KindOf(err) != tc.kind || strings.Contains(fmt.Sprint(err), "canary") {
				t.Errorf("err = %v (%s), want %s", err, fault.KindOf(err), tc.kind)
			}
		})
	}
}

// A role's keys are valid for an hour: each login requests new ones.
func TestLogin_requestsNewKeysEachTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.user()
		source := s.source(t, host, awstest.Role)
		for n := 1; n <= 3; n++ {
			_, password, _, err := source.Login(t.Context())
			if err != nil || password.Reveal() != awstest.Password(n) {
				t.Fatalf("login %d: %s, %v", n, password.Reveal(), err)
			}
			time.Sleep(11 * time.Hour) //nolint:forbidigo // the time of synctest
		}
	})
}
