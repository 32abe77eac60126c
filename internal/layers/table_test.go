package layers

// position is where a package is in the layers.
type position struct {
	layer int // 0 is the lowest
	// support marks code that only tests and other support code may import.
	// It never reaches the binary.
	support bool
}

// module is the path of this Go module.
const module = "promoter"

// table assigns every package to a layer. docs/architecture.md explains the
// layers.
//
// A package whose name ends in "test" needs no line: it is test support and
// belongs to the layer of its parent package, which it may import.
var table = map[string]position{
	"internal/glob":       {layer: 0},
	"internal/image":      {layer: 1},
	"internal/strictyaml": {layer: 1},
	"internal/identity":   {layer: 0},
	"internal/secret":     {layer: 0},
	"internal/fault":      {layer: 0},
	"internal/lru":        {layer: 0},
	"internal/memory":     {layer: 0},
	"internal/printable":  {layer: 0},
	"internal/schedule":   {layer: 0},
	"internal/activity":   {layer: 0},
	"internal/atomicfile": {layer: 0},
	"internal/access":     {layer: 1},
	"internal/budget":     {layer: 1},
	"internal/health":     {layer: 1},
	"internal/kept":       {layer: 1},
	"internal/receiver":   {layer: 1},
	"internal/snapshot":   {layer: 1},
	"internal/verb":       {layer: 1},

	"internal/config":         {layer: 4},
	"internal/config/setting": {layer: 3},
	"internal/config/field":   {layer: 2},
	"internal/config/trust":   {layer: 2},
	"internal/edit":           {layer: 2},
	"internal/event":          {layer: 2},
	"internal/scm":            {layer: 2},
	"internal/seal":           {layer: 1},
	"internal/state":          {layer: 2},
	"internal/outbound":       {layer: 2},
	"internal/database":       {layer: 2},
	"internal/parallel":       {layer: 2},

	"internal/config/server": {layer: 5},
	"internal/evidence":      {layer: 3},
	"internal/signin":        {layer: 3},

	"internal/scm/rest":  {layer: 3},
	"internal/command":   {layer: 3},
	"internal/promotion": {layer: 5},
	"internal/signature": {layer: 3},
	"internal/suggest":   {layer: 5},

	"internal/suggest/bots": {layer: 2},

	"internal/registry/auth": {layer: 3},

	"internal/git/object":  {layer: 3},
	"internal/git/wire":    {layer: 3},
	"internal/git/signing": {layer: 3},

	"internal/updater/node":      {layer: 3},
	"internal/updater/span":      {layer: 3},
	"internal/updater/prefilter": {layer: 3},
	"internal/updater/lex":       {layer: 3},

	"internal/certificate":         {layer: 6},
	"internal/pullrequest":         {layer: 10},
	"internal/promotion/input":     {layer: 6},
	"internal/promotion/condition": {layer: 7},
	"internal/promotion/gate":      {layer: 7},
	"internal/promotion/decide":    {layer: 8},
	"internal/promotion/record":    {layer: 9},
	"internal/promotion/propose":   {layer: 9},
	"internal/drift":               {layer: 6},
	"internal/repo":                {layer: 6},

	"internal/scm/github":           {layer: 4},
	"internal/scm/gitlab":           {layer: 4},
	"internal/scm/gitea":            {layer: 4},
	"internal/scm/plain":            {layer: 4},
	"internal/git":                  {layer: 4},
	"internal/gitopsengine":         {layer: 4},
	"internal/registry":             {layer: 6},
	"internal/rendered":             {layer: 4},
	"internal/registry/auth/aws":    {layer: 4},
	"internal/registry/auth/google": {layer: 4},
	"internal/registry/auth/azure":  {layer: 4},
	"internal/updater/mention":      {layer: 4},
	"internal/updater/site":         {layer: 4},
	"internal/webhook/payload":      {layer: 4},
	"internal/store":                {layer: 6},
	"internal/queue":                {layer: 4},

	"internal/delivery":    {layer: 7},
	"internal/telemetry":   {layer: 8},
	"internal/landing":     {layer: 7},
	"internal/statebranch": {layer: 7},
	"internal/explain":     {layer: 10},
	"internal/view":        {layer: 7},

	"internal/updater/shapes": {layer: 5},

	"internal/webhook/credential": {layer: 5},
	"internal/webhook/forges":     {layer: 5},
	"internal/webhook/pipelines":  {layer: 5},
	"internal/webhook/registries": {layer: 5},

	"internal/comments": {layer: 11},
	"internal/api":      {layer: 8},
	"internal/notify":   {layer: 6},
	"internal/unused":   {layer: 6},
	"internal/updater":  {layer: 6},
	"internal/webhook":  {layer: 6},

	"internal/reconcile/cache":    {layer: 7},
	"internal/reconcile/plan":     {layer: 10},
	"internal/reconcile/observe":  {layer: 12},
	"internal/reconcile/outcome":  {layer: 13},
	"internal/reconcile/describe": {layer: 14},
	"internal/reconcile/act":      {layer: 15},
	"internal/reconcile":          {layer: 16},

	"internal/server":        {layer: 9},
	"internal/web":           {layer: 9},
	"internal/connect":       {layer: 14},
	"internal/connect/rules": {layer: 12},
	"internal/serverfile":    {layer: 13},
	"internal/scan":          {layer: 7},

	"internal/workspace": {layer: 17},
	"internal/simulate":  {layer: 17},

	"internal/checkout":   {layer: 11},
	"internal/decision":   {layer: 18},
	"internal/onboarding": {layer: 18},
	"internal/githubapp":  {layer: 15},
	"internal/doctor":     {layer: 18},
	"internal/imports":    {layer: 8},

	"internal/service/history":       {layer: 17},
	"internal/service/notifications": {layer: 11},

	"internal/service":           {layer: 19},
	"internal/service/adminapi":  {layer: 20},
	"internal/service/decisions": {layer: 20},
	"internal/service/snapshots": {layer: 20},

	"internal/app":  {layer: 21},
	"internal/demo": {layer: 13},

	"internal/cli/render":  {layer: 22},
	"internal/cli/console": {layer: 23},
	"internal/cli/flag":    {layer: 24},
	"internal/cli/client":  {layer: 25},
	"internal/cli/decide":  {layer: 25},
	"internal/cli/forge":   {layer: 25},
	"internal/cli/local":   {layer: 25},
	"internal/cli":         {layer: 26},

	"internal/demo/githttp": {layer: 12},

	"cmd/promoter": {layer: 27},

	"internal/layers":         {layer: 1, support: true},
	"internal/git/gittest":    {layer: 2, support: true},
	"internal/docscheck":      {layer: 5, support: true},
	"internal/keycheck":       {layer: 5, support: true},
	"internal/benchtree":      {layer: 1, support: true},
	"internal/benchworld":     {layer: 2, support: true},
	"internal/chartcheck":     {layer: 6, support: true},
	"hack/bench":              {layer: 14, support: true},
	"hack/demo-github":        {layer: 14, support: true},
	"hack/demo-github/bridge": {layer: 13, support: true},
	"hack/attack":             {layer: 14, support: true},
	"hack/attack/kinds":       {layer: 14, support: true},
	"hack/faults":             {layer: 14, support: true},
	"hack/load":               {layer: 14, support: true},
	"hack/mutants":            {layer: 14, support: true},
	"hack/process":            {layer: 13, support: true},
	"hack/image":              {layer: 14, support: true},
	"hack/reasons":            {layer: 13, support: true},
	"hack/release":            {layer: 14, support: true},
	"hack/schemas":            {layer: 14, support: true},
	"hack/size":               {layer: 14, support: true},
	"hack/structure":          {layer: 14, support: true},
	"hack/vulnerabilities":    {layer: 14, support: true},
	"hack/testlog":            {layer: 14, support: true},
}

// anyPackage means "every package" in the owners of a module.
const anyPackage = "*"

// owners lists, for every third-party module, the packages whose shipped code
// may import it. Without a package, only tests may import it. Test files,
// support code and internal/demo may import every listed module.
var owners = map[string][]string{
	"github.com/KimMachineGun/automemlimit":    {"cmd/promoter"},
	"github.com/Masterminds/semver/v3":         {"internal/image"},
	"github.com/Masterminds/sprig/v3":          nil,
	"github.com/expr-lang/expr":                nil,
	"github.com/bmatcuk/doublestar/v4":         {"internal/glob"},
	"github.com/robfig/cron/v3":                {"internal/schedule"},
	"go.yaml.in/yaml/v3":                       {"internal/imports", "internal/rendered", "internal/strictyaml", "internal/suggest/bots"},
	"github.com/invopop/jsonschema":            nil,
	"github.com/google/go-containerregistry":   {"internal/registry"},
	"github.com/docker/cli":                    {"internal/registry"},
	"github.com/google/go-github/v62":          {"internal/scm/github"},
	"code.gitea.io/sdk/gitea":                  {"internal/scm/gitea"},
	"github.com/golang-jwt/jwt/v5":             {"internal/scm/github", "internal/registry/auth/azure"},
	"github.com/xanzy/go-gitlab":               {"internal/scm/gitlab"},
	"sigs.k8s.io/kustomize/kyaml":              {"internal/rendered", "internal/updater", "internal/updater/node", "internal/updater/shapes", "internal/updater/site", "internal/updater/span"},
	"github.com/sigstore/protobuf-specs":       {"internal/signature"},
	"github.com/sigstore/sigstore-go":          {"internal/signature"},
	"github.com/spf13/cobra":                   {"internal/cli", "internal/cli/client", "internal/cli/console", "internal/cli/decide", "internal/cli/flag", "internal/cli/forge", "internal/cli/local"},
	"github.com/spf13/pflag":                   {"internal/cli"},
	"golang.org/x/term":                        {"internal/cli/console"},
	"golang.org/x/sync":                        {anyPackage},
	"golang.org/x/crypto":                      {"internal/git/signing", "internal/git/wire"},
	"github.com/ProtonMail/go-crypto":          {"internal/git/signing"},
	"golang.org/x/crypto/x509roots/fallback":   nil,
	"github.com/yuin/goldmark":                 {"internal/command"},
	"github.com/wneessen/go-mail":              {"internal/notify"},
	"github.com/coreos/go-oidc/v3":             {"internal/signin", "internal/webhook/credential"},
	"github.com/labstack/echo/v4":              {"internal/api", "internal/server", "internal/web"},
	"github.com/prometheus/client_golang":      {"internal/telemetry"},
	"golang.org/x/time":                        {"internal/server", "internal/service/decisions"},
	"golang.org/x/net":                         {"internal/command", "internal/registry"},
	"github.com/go-git/go-git/v5":              {"internal/git", "internal/git/object", "internal/git/wire"},
	"github.com/go-git/go-billy/v5":            {"internal/git"},
	"modernc.org/sqlite":                       {"internal/database"},
	"github.com/jackc/pgx/v5":                  {"internal/database"},
	"github.com/google/go-cmp":                 nil,
	"github.com/getkin/kin-openapi":            nil,
	"github.com/chromedp/cdproto":              nil,
	"github.com/chromedp/chromedp":             nil,
	"github.com/rogpeppe/go-internal":          {"internal/cli/render", "internal/rendered"},
	"github.com/santhosh-tekuri/jsonschema/v6": nil,
	"helm.sh/helm/v3":                          {"internal/rendered"},
	"sigs.k8s.io/kustomize/api":                {"internal/rendered"},

	"github.com/Azure/azure-sdk-for-go/sdk/azcore":     {"internal/registry/auth/azure"},
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity": {"internal/registry/auth/azure"},
	"github.com/aws/aws-sdk-go-v2":                     {"internal/registry/auth/aws"},
	"github.com/aws/aws-sdk-go-v2/credentials":         {"internal/registry/auth/aws"},
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds":    {"internal/registry/auth/aws"},
	"github.com/aws/aws-sdk-go-v2/service/ecr":         {"internal/registry/auth/aws"},
	"github.com/aws/aws-sdk-go-v2/service/ecrpublic":   {"internal/registry/auth/aws"},
	"github.com/aws/aws-sdk-go-v2/service/sts":         {"internal/registry/auth/aws"},
	"golang.org/x/oauth2":                              {"internal/registry/auth/google", "internal/signin"},

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
