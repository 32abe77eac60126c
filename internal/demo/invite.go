package demo

import "fmt"

// invite prints where everything is, and commands to continue with.
func invite(s *show) {
	if s.github != nil {
		inviteOnGitHub(s)
		return
	}
	fmt.Fprintf(s.options.Out, `
It keeps running until Ctrl-C, which removes the folder:
  service     %[1]s/: its dashboard; and /healthz, /readyz
  repository  %[2]s
  folder      %[3]s: %[4]s is your clone, gitops.git the repository
In another terminal:
  cd %[3]s
  promoter() { '%[5]s' "$@"; }
Push an image, shop 1.8.0, which the service brings to dev. Review the change, and request it:
%[6]s
  sleep 2; git -C %[4]s pull; promoter plan --env staging --dir %[4]s
  promoter promote --to staging --app shop --as %[7]s; sleep 3; promoter explain prod --app shop
Report that it is healthy in staging, so that prod follows; with Degraded, it is rolled back:
  %[8]s
  sleep 3; promoter status; promoter history --app shop --limit 5
`, s.service.url, s.hub.address, s.folder, cloneName, s.options.Program,
		pushImage(s, "1.7.0", "1.8.0"), s.ann.name, reportHealth(s, "Healthy"))
}

// pushImage returns a command line that pushes an image of the shop, with another digest
// than the one that it copies.
func pushImage(s *show, from, to string) string {
	const mediaType = "application/vnd.docker.distribution.manifest.v2+json"
	manifests := "http://" + s.registry.loopback.host + "/v2/acme/shop/manifests/"
	return fmt.Sprintf(`  (curl -s %[1]s%[2]s; echo) | curl -s -T - \
    -H 'Content-Type: %[4]s' \
    %[1]s%[3]s`, manifests, from, to, mediaType)
}
