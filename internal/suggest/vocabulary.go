package suggest

import "strings"

// stage is a step on the way to production, as teams name it.
type stage struct {
	canonical string // one for all spellings
	rank      int    // order on the way to production
	certain   bool   // false: the word has other meanings, so it needs another environment beside it
	sandbox   bool   // nothing is promoted from it
}

// The ranks of stages. The tens are the steps of a typical chain; the ones order
// the stages of one step.
const (
	rankDev     = 10
	rankTest    = 20
	rankStaging = 30
	rankProd    = 40
)

// stages are the names of stages in repositories.
var stages = map[string]stage{
	"dev":         {"dev", rankDev, true, false},
	"devel":       {"dev", rankDev, true, false},
	"develop":     {"dev", rankDev, true, false},
	"development": {"dev", rankDev, true, false},
	"sandbox":     {"sandbox", rankDev, true, true},
	"sbx":         {"sandbox", rankDev, true, true},
	"playground":  {"playground", rankDev, false, true},

	"int":         {"int", rankTest, false, false},
	"integration": {"int", rankTest, false, false},
	"test":        {"test", rankTest + 1, false, false},
	"testing":     {"test", rankTest + 1, false, false},
	"tst":         {"test", rankTest + 1, false, false},
	"qa":          {"qa", rankTest + 2, true, false},
	"nonprod":     {"nonprod", rankTest + 3, true, false},

	"stage":          {"staging", rankStaging, false, false},
	"staging":        {"staging", rankStaging, true, false},
	"stg":            {"staging", rankStaging, true, false},
	"uat":            {"uat", rankStaging + 1, true, false},
	"acceptance":     {"uat", rankStaging + 1, false, false},
	"preprod":        {"preprod", rankStaging + 2, true, false},
	"preproduction":  {"preprod", rankStaging + 2, true, false},
	"pre-prod":       {"preprod", rankStaging + 2, true, false},
	"pre-production": {"preprod", rankStaging + 2, true, false},
	"non-prod":       {"nonprod", rankTest + 3, true, false},

	"prod":       {"prod", rankProd, true, false},
	"prd":        {"prod", rankProd, true, false},
	"production": {"prod", rankProd, true, false},
	"live":       {"prod", rankProd, false, false},
}

// findStage returns the stage that a token names, also with a number behind it:
// prod2, or with another separator: pre_prod.
func findStage(token string) (stage, bool) {
	token = separators.ReplaceAllString(strings.ToLower(token), "-")
	found, ok := stages[strings.TrimRight(token, "0123456789")]
	return found, ok
}

// set returns the fields of a text as a set.
func set(text string) map[string]bool {
	fields := map[string]bool{}
	for _, field := range strings.Fields(text) {
		fields[field] = true
	}
	return fields
}

// Other words in the names of folders and files.
var (
	// regions are parts of geographic names, as cloud providers spell them.
	regions = set(`eu us ap ca sa af cn uk de fr jp au ch nl asia emea apac amer americas na latam
		europe america australia africa canada global
		east west north south central northeast northwest southeast southwest
		eastus eastus2 westus westus2 westus3 westeurope northeurope
		euw1 euw2 euw3 euc1 eun1 use1 use2 usw1 usw2 usc1 weu neu eus wus fra lon ams dub iad sfo nyc`)

	// qualifiers are parts of the name of an environment.
	qualifiers = set(`a b c blue green primary secondary dr cluster k8s aws gcp azure eks gke aks onprem public private internal external`)

	// categories are folders for many of a kind. They are not the name of an
	// application.
	categories = set(`app apps application applications service services workload workloads project projects
		release releases component components chart charts tenant tenants team teams product products
		cluster clusters environment environments env envs stage stages overlay overlays
		deploy deployment deployments infrastructure infra platform kustomize k8s kubernetes
		manifest manifests gitops helm argocd argo flux config configs addons argocd-apps helm-charts helmfile`)

	// containers are the categories whose members are applications: even if there is
	// only one, more will come.
	containers = set(`app apps application applications service services workload workloads project projects
		release releases component components chart charts tenant tenants team teams product products argocd-apps helm-charts`)

	// parts are folders inside an application or an environment.
	parts = set(`base bases common shared default templates patches resources manifests crds files config
		secrets components flux-system charts values`)

	// stems are parts of file names beside the name of an environment.
	stems = set(`values value config settings env environment kustomization helm helmfile images image
		overrides override secrets patch overlay cluster kustomize release params parameters vars`)

	// tools are folders and files in the root that configure something other than
	// deployments, in addition to the default excludes of every environment.
	tools = set(`.circleci .buildkite .drone.yml .woodpecker .woodpecker.yml .travis.yml .cirrus.yml .semaphore .azuredevops
		.azure-pipelines azure-pipelines.yml bitbucket-pipelines.yml .devcontainer .teamcity .vscode .idea`)

	// bases are folders that several environments share.
	bases = set(`base bases _base common shared default _default components library`)
)
