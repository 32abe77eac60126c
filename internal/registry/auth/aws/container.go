package aws

import (
	"context"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

// container asks the agent beside a container: that of ECS by a path, that of EKS
// Pod Identity by a whole URL and a token.
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html
func (s *Source) container(ctx context.Context) (keys, error) {
	m := s.machine
	q := auth.Question{
		What: "AWS container credentials", URL: m.Var("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
		Advice: "give the task a role, or the service account a pod identity association",
		Header: map[string]string{"Accept": "application/json"},
	}
	if path := m.Var("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		if path[0] != '/' {
			return keys{}, fault.New(fault.Invalid, "%s: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is no path", q.What)
		}
		q.URL = "http://" + auth.Task + path
	}
	token, err := s.agentToken(q.What)
	if err != nil {
		return keys{}, err
	}
	if !token.IsZero() {
		q.Header["Authorization"] = token.Reveal()
	}
	answer, err := m.AskMachine(ctx, q)
	if err != nil {
		return keys{}, err
	}
	return readKeys(q.What, answer)
}

// agentToken is what the agent wants to see. The file is written anew before the
// token in it ends.
func (s *Source) agentToken(what string) (secret.String, error) {
	if file := s.machine.Var("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		return s.machine.File(what, file)
	}
	if token := s.machine.Var("AWS_CONTAINER_AUTHORIZATION_TOKEN"); token != "" {
		return secret.New(token), nil
	}
	return secret.String{}, nil
}

// readKeys reads keys in the form that the agent and the virtual machine give.
func readKeys(what string, answer auth.Answer) (keys, error) {
	var got struct {
		ID      string `json:"AccessKeyId"`
		Secret  string `json:"SecretAccessKey"`
		Session string `json:"Token"`
	}
	if err := answer.Decode(what, &got); err != nil {
		return keys{}, err
	}
	return newKeys(what, got.ID, got.Secret, got.Session)
}
