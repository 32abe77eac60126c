package layers

// place is the layer of a package.
type place struct {
	floor int
	// support marks code that only tests and other support code may import.
	// It never reaches the binary.
	support bool
}

// module is the path of this Go module.
const module = "promoter"

// table assigns every package to a layer. docs/architecture.md explains the
// layers; packages planned for later releases are already listed.
//
// A package whose name ends in "test" needs no line: it is test support and
// belongs to the layer of its parent package, which it may import.
var table = map[string]place{
	"internal/glob":       {floor: -1},
	"internal/image":      {floor: 0},
	"internal/strictyaml": {floor: 0},
	"internal/identity":   {floor: -1},
	"internal/secret":     {floor: -1},
	"internal/fault":      {floor: -1},
	"internal/schedule":   {floor: -1},
	"internal/atomicfile": {floor: -1},
	"internal/receiver":   {floor: 0},
	"internal/verb":       {floor: 0},

	"internal/config":   {floor: 1},
	"internal/edit":     {floor: 1},
	"internal/event":    {floor: 1},
	"internal/scm":      {floor: 1},
	"internal/state":    {floor: 1},
	"internal/outbound": {floor: 1},
	"internal/database": {floor: 1},
	"internal/parallel": {floor: 1},

	"internal/config/server": {floor: 2},

	"internal/scm/rest":  {floor: 2},
	"internal/command":   {floor: 2},
	"internal/promotion": {floor: 2},
	"internal/suggest":   {floor: 2},

	"internal/registry/auth": {floor: 2},

	"internal/git/object": {floor: 2},
	"internal/git/wire":   {floor: 2},

	"internal/updater/node":      {floor: 2},
	"internal/updater/span":      {floor: 2},
	"internal/updater/prefilter": {floor: 2},

	"internal/pullrequest": {floor: 3},

	"internal/scm/github":           {floor: 3},
	"internal/scm/gitlab":           {floor: 3},
	"internal/scm/gitea":            {floor: 3},
	"internal/scm/plain":            {floor: 3},
	"internal/git":                  {floor: 3},
	"internal/registry":             {floor: 3},
	"internal/registry/auth/aws":    {floor: 3},
	"internal/registry/auth/google": {floor: 3},
	"internal/registry/auth/azure":  {floor: 3},
	"internal/signature":            {floor: 3},
	"internal/updater":              {floor: 3},
	"internal/webhook":              {floor: 3},
	"internal/evidence":             {floor: 3},
	"internal/store":                {floor: 3},
	"internal/queue":                {floor: 3},
	"internal/notify":               {floor: 3},
	"internal/web":                  {floor: 3},
	"internal/telemetry":            {floor: 3},

	"internal/engine": {floor: 4},

	"internal/server":  {floor: 5},
	"internal/connect": {floor: 5},
	"internal/scan":    {floor: 5},

	"internal/workspace": {floor: 6},

	"internal/checkout":   {floor: 7},
	"internal/decision":   {floor: 7},
	"internal/onboarding": {floor: 7},
	"internal/githubapp":  {floor: 7},
	"internal/doctor":     {floor: 7},

	"internal/service/history": {floor: 7},

	"internal/service":          {floor: 8},
	"internal/service/adminapi": {floor: 9},

	"internal/app":  {floor: 10},
	"internal/cli":  {floor: 11},
	"internal/demo": {floor: 11},

	"internal/demo/githttp": {floor: 10},

	"cmd/promoter": {floor: 12},

	"internal/layers":         {floor: 0, support: true},
	"internal/git/gittest":    {floor: 1, support: true},
	"internal/docscheck":      {floor: 2, support: true},
	"internal/benchtree":      {floor: 0, support: true},
	"internal/benchworld":     {floor: 1, support: true},
	"internal/chartcheck":     {floor: 3, support: true},
	"hack/bench":              {floor: 12, support: true},
	"hack/demo-github":        {floor: 12, support: true},
	"hack/demo-github/bridge": {floor: 11, support: true},
	"hack/load":               {floor: 12, support: true},
	"hack/image":              {floor: 12, support: true},
	"hack/schemas":            {floor: 12, support: true},
	"hack/structure":          {floor: 12, support: true},
	"hack/testlog":            {floor: 12, support: true},
}

// anyPackage means "every package" in the owners of a module.
const anyPackage = "*"

// owners lists, for every third-party module, the packages whose shipped code
// may import it. Without a package, only tests may import it. Test files,
// support code and internal/demo may import every listed module.
var owners = map[string][]string{
	"github.com/Masterminds/semver/v3":         {"internal/image"},
	"github.com/bmatcuk/doublestar/v4":         {"internal/glob"},
	"github.com/robfig/cron/v3":                {"internal/schedule"},
	"go.yaml.in/yaml/v3":                       {"internal/strictyaml"},
	"github.com/invopop/jsonschema":            nil,
	"github.com/google/go-containerregistry":   {"internal/registry", "internal/signature"},
	"github.com/google/go-github/v62":          {"internal/scm/github"},
	"code.gitea.io/sdk/gitea":                  {"internal/scm/gitea"},
	"github.com/golang-jwt/jwt/v5":             {"internal/scm/github", "internal/registry/auth/azure"},
	"github.com/xanzy/go-gitlab":               {"internal/scm/gitlab"},
	"sigs.k8s.io/kustomize/kyaml":              {"internal/updater", "internal/updater/node", "internal/updater/span"},
	"github.com/spf13/cobra":                   {"internal/cli"},
	"github.com/spf13/pflag":                   {"internal/cli"},
	"golang.org/x/term":                        {"internal/cli"},
	"golang.org/x/sync":                        {anyPackage},
	"golang.org/x/crypto":                      {"internal/git/wire"},
	"golang.org/x/crypto/x509roots/fallback":   nil,
	"github.com/coreos/go-oidc/v3":             {"internal/webhook"},
	"github.com/labstack/echo/v4":              {"internal/server"},
	"github.com/prometheus/client_golang":      {"internal/telemetry"},
	"golang.org/x/time":                        {"internal/server"},
	"golang.org/x/net":                         {"internal/registry"},
	"github.com/go-git/go-git/v5":              {"internal/git", "internal/git/object", "internal/git/wire"},
	"github.com/go-git/go-billy/v5":            {"internal/git"},
	"modernc.org/sqlite":                       {"internal/database"},
	"github.com/jackc/pgx/v5":                  {"internal/database"},
	"github.com/google/go-cmp":                 nil,
	"github.com/getkin/kin-openapi":            nil,
	"github.com/rogpeppe/go-internal":          {"internal/cli"},
	"github.com/santhosh-tekuri/jsonschema/v6": nil,
	"helm.sh/helm/v3":                          nil,
	"sigs.k8s.io/kustomize/api":                nil,

	"github.com/Azure/azure-sdk-for-go/sdk/azcore":     {"internal/registry/auth/azure"},
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity": {"internal/registry/auth/azure"},
	"github.com/aws/aws-sdk-go-v2":                     {"internal/registry/auth/aws"},
	"github.com/aws/aws-sdk-go-v2/credentials":         {"internal/registry/auth/aws"},
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds":    {"internal/registry/auth/aws"},
	"github.com/aws/aws-sdk-go-v2/service/ecr":         {"internal/registry/auth/aws"},
	"github.com/aws/aws-sdk-go-v2/service/ecrpublic":   {"internal/registry/auth/aws"},
	"github.com/aws/aws-sdk-go-v2/service/sts":         {"internal/registry/auth/aws"},
	"golang.org/x/oauth2":                              {"internal/registry/auth/google"},

	"go.opentelemetry.io/otel":                          {"internal/telemetry"},
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace": {"internal/telemetry"},
	"go.opentelemetry.io/otel/sdk":                      {"internal/telemetry"},
	"go.opentelemetry.io/otel/trace":                    {"internal/telemetry"},
	"go.opentelemetry.io/proto/otlp":                    {"internal/telemetry"},
	"google.golang.org/protobuf":                        {"internal/telemetry"},
}

// freeOfOwners are the shipped packages that may import every listed module:
// the demo uses them to build its servers.
var freeOfOwners = map[string]bool{"internal/demo": true, "internal/demo/githttp": true}
