package chartcheck

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/memory"
	manifests "promoter/internal/rendered"
)

// Every pod runs as non-root, with a read-only root file system, and without
// unnecessary privileges.
func TestPods_rights(t *testing.T) {
	t.Parallel()
	eachPod(t, checkRights)
}

func checkRights(t *testing.T, made pod) {
	t.Helper()
	podWants := map[string]any{
		"runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532,
		"fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": map[string]any{"type": "RuntimeDefault"},
	}
	containerWants := map[string]any{
		"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": map[string]any{"drop": []any{"ALL"}},
	}
	if diff := cmp.Diff(podWants, made.SecurityContext); diff != "" {
		t.Errorf("the pod (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(containerWants, made.Containers[0].SecurityContext); diff != "" {
		t.Errorf("the container (-want +got):\n%s", diff)
	}
	if token := made.AutomountServiceAccountToken; token == nil || *token {
		t.Error("the pod gets a token of the cluster")
	}
}

// Every path that promoter writes to is a volume, because the root file system
// is read-only.
func TestPods_writableFolders(t *testing.T) {
	t.Parallel()
	eachPod(t, func(t *testing.T, made pod) {
		var mounted []string
		for _, mount := range made.Containers[0].VolumeMounts {
			mounted = append(mounted, mount.MountPath)
			if !slices.ContainsFunc(made.Volumes, func(v map[string]any) bool { return v["name"] == mount.Name }) {
				t.Errorf("%s is mounted from %s, which is no volume", mount.MountPath, mount.Name)
			}
		}
		for _, needed := range append(written(made.Containers[0]), "/tmp") {
			if !slices.Contains(mounted, needed) {
				t.Errorf("%s is written to and is no volume; there are %q", needed, mounted)
			}
		}
	})
}

// written returns the folders that the arguments and variables name.
func written(c container) []string {
	var folders []string
	for _, argument := range c.Args {
		if cache, found := strings.CutPrefix(argument, "--cache="); found {
			folders = append(folders, cache)
		}
	}
	for _, variable := range c.Env {
		switch variable["name"] {
		case "PROMOTER_DATA":
			folders = append(folders, fmt.Sprint(variable["value"]))
		case "PROMOTER_DATABASE_PATH":
			folders = append(folders, path.Dir(fmt.Sprint(variable["value"])))
		}
	}
	return folders
}

// drain is the most seconds that `serve` takes to exit: EndTimeout of internal/cli/console, and a margin.
const drain = 20

// The termination grace period of a pod is longer than promoter needs to stop.
func TestPods_endInTime(t *testing.T) {
	t.Parallel()
	eachPod(t, func(t *testing.T, made pod) {
		if !slices.Contains(made.Containers[0].Args, "serve") {
			return
		}
		pause := made.Containers[0].Lifecycle.PreStop.Sleep.Seconds
		if given := made.TerminationGracePeriodSeconds; given < pause+drain+10 {
			t.Errorf("the pod has %d seconds to end, and needs %d for the pause, %d to finish, and some", given, pause, drain)
		}
	})
}

// What one child process that renders manifests may need, with all that run at once and two reconciliations, fits into
// the memory of the container.
func TestPods_memoryFitsRendering(t *testing.T) {
	t.Parallel()
	eachPod(t, func(t *testing.T, made pod) {
		limit := bytesOf(t, made.Containers[0].Resources.Limits.Memory)
		divided := memory.Divide(limit/10*9, manifests.MinMemory, manifests.MaxMemory) // as cmd/promoter sets it
		if divided.Children < 1 || divided.Child != manifests.MaxMemory {
			t.Errorf("%d MiB leave %d children %d MiB each", limit>>20, divided.Children, divided.Child>>20)
		}
		if all := int64(divided.Children)*divided.Child + divided.Own; all > limit/10*9 {
			t.Errorf("everything needs %d MiB of %d MiB", all>>20, limit>>20)
		}
		if divided.Own < 2*memory.Reconciliation {
			t.Errorf("%d MiB are left for reconciliations", divided.Own>>20)
		}
	})
}

// bytesOf returns a quantity of memory, such as 1Gi.
func bytesOf(t *testing.T, quantity string) int64 {
	t.Helper()
	for unit, size := range map[string]int64{"Mi": 1 << 20, "Gi": 1 << 30} {
		if number, found := strings.CutSuffix(quantity, unit); found {
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n * size
		}
	}
	t.Fatalf("the memory limit is %q", quantity)
	return 0
}

// eachPod calls check with the pod of each case.
func eachPod(t *testing.T, check func(*testing.T, pod)) {
	t.Helper()
	for name, file := range cases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen int
			for _, one := range objects(t, mustRender(t, file).text) {
				if made, found := one.pod(); found {
					seen++
					check(t, made)
				}
			}
			if seen != 1 {
				t.Errorf("%d objects make pods, want 1", seen)
			}
		})
	}
}

// On OpenShift, which sets the user and group of a pod, values remove those of the chart.
func TestPods_userOfOpenShift(t *testing.T) {
	t.Parallel()
	values := least()
	values["podSecurityContext"] = map[string]any{"runAsUser": nil, "runAsGroup": nil, "fsGroup": nil}
	out, err := render(values)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"runAsNonRoot": true, "fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": map[string]any{"type": "RuntimeDefault"}}
	for _, one := range objects(t, out.text) {
		if made, found := one.pod(); found {
			if diff := cmp.Diff(want, made.SecurityContext); diff != "" {
				t.Errorf("the pod (-want +got):\n%s", diff)
			}
		}
	}
}
