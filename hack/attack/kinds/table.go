package main

// kind is one kind of attack, which is a row of docs/operate/attacks.md.
type kind struct {
	name  string
	least int // cases that must run: a case that is lost is noticed
	tests []tests
}

// tests are tests of one folder.
type tests struct {
	folder string
	names  []string
}

// kinds returns all kinds whose proof is a test. Those that need a service beside a victim are in
// hack/attack.
func kinds() []kind {
	return []kind{
		{"scopes", 292, []tests{
			{"internal/app", []string{"TestRoutes_haveRows", "TestRoutes_hiddenIsAsAbsent", "TestRoutes_streamsHideChanges"}},
			{"internal/decision", []string{"TestParseImage_ofAScope"}},
		}},
		{"entrances", 1820, []tests{
			{"internal/app", []string{
				"TestEntrances_ofCommands", "TestEntrances_overHTTP", "TestEntrances_ofComments", "TestEntrances_ofTheStateBranch", "TestEntrances_ofWebhooks",
				"TestEntrances_ofNotifications", "TestEntrances_page",
			}},
		}},
		{"permissions that change before something is sent", 5, []tests{
			{"internal/service", []string{"TestWorkers_askWhatIsPermittedNow", "TestPermissions_areOfThePresentName", "TestHealthReports_countWhileTheirTokenMayReport"}},
			{"internal/app", []string{"TestServe_asksWhatIsPermittedWhenItSends"}},
		}},
		{"budgets of tenants", 49, []tests{
			{"internal/promotion/decide", []string{"TestPlan_overBudgetDecidesNothing", "TestPlan_endsWithTheContext"}},
			{"internal/reconcile", []string{"TestReconcile_overBudgetWritesNothing"}},
			{"internal/config", []string{"TestLoad_hostile"}},
			{"internal/api", []string{
				"TestChanges_nothingToRead", "TestChanges_limits", "TestChanges_deadlines", "TestChanges_hiddenBurstsDoNotEndAStream",
				"TestChanges_principalsLeaveRoomForOthers",
			}},
			{"internal/scan", []string{"TestScan_chargesTheBudgetForPaths", "TestMatcher_costOfALargeRepository"}},
			{"internal/comments", []string{"TestCommandsIn_parsesAFewNewCommentsAndEachOnce", "TestCommandsIn_endsWithItsContext"}},
			{"internal/service/history", []string{"TestLabelsOf_keepsAFew"}},
			{"internal/rendered", []string{
				"TestPool_rendersWhatExceedsALimitAgainOnlyWithOtherFilesOrLimits", "TestPool_chargesTheBudgetOfTheReconciliation",
				"TestSlots_theOwnerThatUsedTheLeastIsNext", "TestSlots_noOwnerWaitsForever", "TestSlots_whatRunsCounts",
			}},
			{"cmd/promoter", []string{"TestSignal_endsRunAndServeWhateverRuns", "TestSignal_endsWhileManifestsAreRendered"}},
		}},
		{"Secrets in rendered manifests", 92, []tests{
			{"internal/rendered", []string{"TestSecrets_areNotShown", "TestSecrets_showThatAValueChanges", "TestSecrets_areNotInReasons", "TestSecrets_ofManyAliasesAreRefused"}},
		}},
		{"the child that renders", 12, []tests{
			{"internal/rendered", []string{
				"TestChild_canOpenNothing", "TestDifferences_refusesWhatNeedsTheNetworkOrPrograms", "TestDifferences_refusesARemoteReferenceOfABase", "TestDifferences_stopsWhatUsesTooMuch",
			}},
		}},
		{"commands in comments", 371, []tests{
			{"internal/command", []string{"TestRead_otherText", "TestRead_asReadersSeeIt", "TestRead_limits", "TestRead_ofHostileCommentsIsFast"}},
		}},
		{"sign-ins", 26, []tests{
			{"internal/signin", []string{"TestProvider_refusesWrongTokens", "TestProvider_refusesAReplayedResponse", "TestProvider_completesASignInOnce"}},
			{"internal/store", []string{"TestSignIns_countOnce", "TestSignIns_countOnceAtTheSameTime"}},
		}},
		{"secret files that rotate", 6, []tests{
			{"internal/secret", []string{
				"TestFiles_followAMountedSecret", "TestFiles_readARefusedSecretAgain", "TestFiles_keepTheSecretBefore", "TestDerived_followsItsSecrets", "TestFiles_areSafeForConcurrentUse",
			}},
			{"internal/app", []string{"TestServe_followsTheFilesOfItsSecrets"}},
		}},
		{"clients of every route", 503, []tests{
			{"internal/app", []string{"TestRoutes_surviveAnEndlessBody", "TestRoutes_surviveABodyThatNeverBegins", "TestRoutes_surviveSlowSenders"}},
			{"internal/server", []string{"TestBounds_displaceTheSlowest", "TestListen_limitsSlowBodiesOfHTTP2", "TestListen_closesSlowConnections"}},
		}},
		{"metrics and profiles", 6, []tests{
			{"internal/app", []string{"TestServe_metrics"}},
			{"internal/chartcheck", []string{"TestNetworkPolicy_whoReachesWhat", "TestService_metricsStayInTheCluster"}},
		}},
		{"links in a repository of CI", 41, []tests{
			{"cmd/promoter", []string{
				"TestCI_scriptsWriteThroughNoLinks", "TestCI_scriptsWriteToFoldersOfTheirOwn", "TestCI_commentsFollowNoLinks", "TestCI_githubRefusesLinkedFolders",
			}},
		}},
		{"signatures of elsewhere and before", 58, []tests{
			{"internal/signature", []string{"TestVerify_signatures", "TestVerify_limits", "TestVerify_limitsOfOtherSigners", "TestVerify_limitsOfKeylessSignatures"}},
			{"internal/app", []string{"TestRun_refusesSignedImagesOfElsewhere_github"}},
		}},
		{"keyless signatures", 118, []tests{
			{"internal/signature", []string{"TestVerify_keyless", "TestVerify_keylessOfASigstore", "TestNew_refusesABrokenTrustedRoot"}},
		}},
		{"texts in chats", 956, []tests{
			{"internal/notify", []string{
				"TestChats_acceptHostileTextsAndShowThemAsTheyAre", "TestChats_waitAndStay", "TestSend_errorsHideSecrets", "TestSend_linksOnlyToWebPages",
			}},
		}},
		{"names that change their address", 133, []tests{
			{"internal/outbound", []string{
				"TestClient_namesThatChangeTheirAddress", "TestClient_namesOfSeveralAddresses", "TestClient_insecureNamesThatChangeTheirAddress", "TestClient_refusesNamesOfPrivateAddresses",
				"TestClient_checksTheDialedAddress", "TestClient_guardsRedirects", "TestProxy_checksTargets", "TestGuard_refusesSpecialAddresses",
			}},
		}},
		{"accounts that look alike, or change", 46, []tests{
			{"internal/identity", []string{"TestSameLogin", "TestUser_Same", "TestUnverified"}},
			{"internal/connect/rules", []string{"TestPermissions_ofLookalikes"}},
			{"internal/promotion/decide", []string{"TestGates_approvals", "TestGates_requesterWithAnotherLogin"}},
			{"internal/scm/github", []string{"TestReviews_latestPerUser", "TestMayWrite_askedLive", "TestMember_ofAnAccountWhoseLoginAnotherHasNow"}},
			{"internal/scm/gitlab", []string{"TestReviews_whoCounts"}},
		}},
		{"approvers who leave before the merge", 12, []tests{
			{"internal/reconcile", []string{"TestReconcile_approversChangeBeforeTheMerge", "TestReconcile_approvalsThatDoNotCount", "TestIncremental_approversLeaveBeforeTheMerge"}},
		}},
	}
}
