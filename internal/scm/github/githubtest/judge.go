package githubtest

import (
	"net/http"
	"testing"
)

// Judge holds requests and answers against GitHub's own description of its API.
type Judge struct{}

func environmentJudge(testing.TB) *Judge { return nil }

func (j *Judge) check(testing.TB, *http.Request, []byte, *reply) {}
