package suggest

import "strings"

// word is what people call a stage.
type word struct {
	canonical string // spellings of one stage share it
	rank      int    // where it stands on the way to production
	sure      bool   // false: it names other things as well, so it needs company
	aside     bool   // a playground: nothing is promoted from it
}

// The ranks of stages. Tens are what people mean by a step; stages of one ten
// mostly come in the order of their ones.
const (
	rankDev     = 10
	rankTest    = 20
	rankStaging = 30
	rankProd    = 40
)

// words are the names of stages in repositories.
var words = map[string]word{
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

// findWord looks a token up, also one with a number behind it: prod2.
func findWord(token string) (word, bool) {
	found, ok := words[strings.TrimRight(strings.ToLower(token), "0123456789")]
	return found, ok
}

// set makes a set of the fields of a text.
func set(text string) map[string]bool {
	out := map[string]bool{}
	for _, field := range strings.Fields(text) {
		out[field] = true
	}
	return out
}

// What else stands in the names of folders and files.
var (
	// regions are parts of the names of places on earth, as clouds spell them.
	regions = set(`eu us ap ca sa af cn uk de fr jp au ch nl asia emea apac amer americas na latam
		europe america australia africa canada global
		east west north south central northeast northwest southeast southwest
		eastus eastus2 westus westus2 westus3 westeurope northeurope
		euw1 euw2 euw3 euc1 eun1 use1 use2 usw1 usw2 usc1 weu neu eus wus fra lon ams dub iad sfo nyc`)

	// qualifiers stand beside the name of an environment and belong to it.
	qualifiers = set(`a b c blue green primary secondary dr cluster k8s aws gcp azure eks gke aks onprem public private internal external`)

	// categories are folders that hold many of a kind, and no application.
	categories = set(`app apps application applications service services workload workloads project projects
		release releases component components chart charts tenant tenants team teams product products
		cluster clusters environment environments env envs stage stages overlay overlays
		deploy deployment deployments infrastructure infra platform kustomize k8s kubernetes
		manifest manifests gitops helm argocd argo flux config configs addons argocd-apps helm-charts helmfile`)

	// containers are the categories whose members are applications, so that even
	// a single one is one of many to come.
	containers = set(`app apps application applications service services workload workloads project projects
		release releases component components chart charts tenant tenants team teams product products argocd-apps helm-charts`)

	// parts are folders inside an application or an environment.
	parts = set(`base bases common shared default templates patches resources manifests crds files config
		secrets components flux-system charts values`)

	// stems stand beside the name of an environment in the name of a file.
	stems = set(`values value config settings env environment kustomization helm helmfile images image
		overrides override secrets patch overlay cluster kustomize release params parameters vars`)

	// tools are folders and files at the top that configure something else than
	// what is deployed, as the default excludes of every environment are.
	tools = set(`.circleci .buildkite .drone.yml .woodpecker .woodpecker.yml .travis.yml .cirrus.yml .semaphore .azuredevops
		.azure-pipelines azure-pipelines.yml bitbucket-pipelines.yml .devcontainer .teamcity .vscode .idea`)

	// bases are folders and files that several environments share.
	bases = set(`base bases _base common shared default _default components library`)
)
