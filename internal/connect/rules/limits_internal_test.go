package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/config/setting"
)

func TestCaps_severalLimitsHoldTogether(t *testing.T) {
	t.Parallel()
	pr, automerge, push := setting.LandPR, setting.LandAutomerge, setting.LandPush
	for _, test := range []struct {
		name   string
		limits []serverconfig.Limit
		want   config.Limit
	}{
		{"none", nil, config.Limit{}},
		{
			"another environment", []serverconfig.Limit{
				{Scope: serverconfig.Scope{Environments: []string{"dev"}}, Land: []setting.Land{pr}},
				{Scope: serverconfig.Scope{Environments: []string{"prod-*"}}, Approvals: 1},
			}, config.Limit{Approvals: 1},
		},
		{"one of them lets rollbacks wait", []serverconfig.Limit{{RollbackInWindows: true}, {Approvals: 1}}, config.Limit{Approvals: 1, RollbackInWindows: true}},
		{"an unknown environment", []serverconfig.Limit{{Scope: serverconfig.Scope{Environments: []string{"dev"}}, Land: []setting.Land{pr}}}, config.Limit{Land: []setting.Land{pr}}},
		{"one", []serverconfig.Limit{{Scope: serverconfig.Scope{Environments: []string{"prod-*"}}, Land: []setting.Land{pr, automerge}}}, config.Limit{Land: []setting.Land{pr, automerge}}},
		{"what both allow", []serverconfig.Limit{{Land: []setting.Land{pr, automerge}, Approvals: 1}, {Land: []setting.Land{automerge, push}, Approvals: 2}}, config.Limit{Land: []setting.Land{automerge}, Approvals: 2}},
		{
			"nothing is allowed by both", []serverconfig.Limit{
				{Land: []setting.Land{push}, Propose: []setting.Propose{setting.ProposeAutomatic}},
				{Land: []setting.Land{automerge}, Propose: []setting.Propose{setting.ProposeManual}},
			}, config.Limit{Land: []setting.Land{pr}, Propose: []setting.Propose{setting.ProposeNever}},
		},
	} {
		if diff := cmp.Diff(test.want, combine(test.limits, target("prod-eu", "shop"))); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}
