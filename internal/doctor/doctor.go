// Package doctor checks what a server file names: secrets, certificate, receivers,
// database, forges, repositories, and registries. It makes the requests that a service
// would make, and changes nothing.
package doctor

import (
	"context"
	"errors"

	"promoter/internal/api"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/serverfile"
)

// Check checks everything that the server file names. The error is that it could not
// check; what is wrong is in the findings. The function returns the status of the running
// service, which knows what arrived at receivers; nil: it is not asked. A destination of
// notifications that is named in test gets a test message.
func Check(
	ctx context.Context, options serverfile.Options, running func(context.Context) (api.Status, error), test string,
) (_ []Finding, err error) {
	s, err := serverfile.OpenService(options)
	if err != nil {
		return nil, err
	}
	f, seen := &findings{}, &hosts{last: map[string]hostStatus{}}
	if !checkSeals(s, f) {
		s.File.Seal.Keys = nil // so that everything else can be checked
	}
	if !checkSigning(s, f) {
		s.File.Signing = serverconfig.Signing{GitHubApp: s.File.Signing.GitHubApp}
	}
	connections, err := connect.New(s, connect.Hooks{Request: seen.observe})
	if err != nil {
		return nil, err
	}
	checkSecrets(s, f)
	checkVerify(s, f)
	checkTLS(ctx, s, f)
	checkMetrics(s, f)
	checkReceivers(connections, f)
	checkPolls(ctx, connections, f)
	checkDatabase(ctx, s, f)
	checkTraces(ctx, connections, f)
	if err := checkDestinations(ctx, connections, test, f); err != nil {
		return nil, err
	}
	session, err := connections.Open(ctx, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	checkApps(ctx, session, f)
	checkRepositories(ctx, session, f)
	checkSigner(session, f)
	checkReports(ctx, s.File, running, f)
	checkHosts(seen, f)
	return f.sorted(), context.Cause(ctx)
}
