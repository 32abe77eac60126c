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
  service     %[1]s/healthz, /readyz, /metrics
  repository  %[2]s
  folder      %[3]s: %[4]s is your clone, gitops.git the repository
In another terminal:
  cd %[3]s
  promoter() { '%[5]s' "$@"; }
  promoter status
  promoter explain prod --app shop
Push an image, shop 1.8.0. The service pushes it to dev, and you review the change for staging:
%[6]s
  sleep 2; git -C %[4]s pull; promoter plan --env staging --dir %[4]s
Request it for staging; prod follows after 2 seconds:
  promoter promote --to staging --app shop --as %[7]s
  sleep 5; promoter history --app shop --limit 5
Let prod wait for a minute from now on:
  git -C %[4]s pull; sed -i.bak 's/soak: 2s/soak: 1m/' %[4]s/%[8]s
  git -C %[4]s commit -am 'Soak longer'; git -C %[4]s push
`, s.service.url, s.hub.address, s.folder, cloneName, s.options.Program, pushImage(s, "1.7.0", "1.8.0"), s.ann.name, configFile)
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
