package updater_test

import (
	"strings"
	"testing"
)

func TestSOPS_signedValuesStay(t *testing.T) {
	t.Parallel()
	file := func(image, mac string) string {
		return "image: " + image + "\npassword: ENC[AES256_GCM,data:a,iv:b,tag:c,type:str]\nsops:\n  version: 3.8.1\n" + mac
	}
	const mac = "  mac: ENC[AES256_GCM,data:a,iv:b,tag:c,type:str]\n"
	checkShapes(t, []shapeCase{
		{name: "signed", before: file(webV1, mac), refused: "file.yaml:1: SOPS signs all values"},
		{name: "signed, present version", before: file(webV2, mac)},
		swapped("only encrypted values are signed", file(webV1, mac+"  mac_only_encrypted: true\n")),
		swapped("not signed", file(webV1, "")),
		{name: "JSON", path: "file.json", before: `{"image":"` + webV1 + `","sops":{"mac":"ENC[a]"}}`, refused: "SOPS signs all values"},
		{name: "second document", before: file(webV1, mac) + "---\n" + strings.ReplaceAll(file(webV1, mac), "image", "other"), refused: "SOPS signs all values"},
	})
}
