package promotion_test

import (
	"testing"

	"promoter/internal/promotion"

	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

func TestParseHead(t *testing.T) {
	t.Parallel()
	for branch, want := range map[string]promotion.Target{
		promotion.HeadBranch("prod-eu", "shop"): {Environment: "prod-eu", Application: "shop"},
		promotion.GroupBranch("prod-eu"):        {Environment: "prod-eu", Application: state.All},
		"promoter/prod/_all":                    {Environment: "prod", Application: "_all"},
		state.Branch:                            {},
		"promoter/_state/x":                     {},
		"promoter/prod":                         {},
		"promoter/prod/shop/x":                  {},
		"promoter//shop":                        {},
		"promoter/prod/":                        {},
		"Promoter/prod/shop":                    {},
		"main":                                  {},
		"":                                      {},
	} {
		got, ours := promotion.ParseHead(branch)
		if got != want || ours != (want.Environment != "") {
			t.Errorf("%s: got %v, %v", branch, got, ours)
		}
	}
}

func TestPromotionID(t *testing.T) {
	t.Parallel()
	snapshot := promotion.Snapshot{"web": {Repository: promotiontest.Repository("web"), Version: promotiontest.Version("1.4.2@" + promotiontest.DigestA)}}
	target := promotion.Target{Environment: "prod", Application: "shop"}
	got := promotion.ID("github.com/4711", target, snapshot.ID(), 2)
	if want := "github.com/4711/prod/shop/" + snapshot.ID()[3:15] + "/2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
