package registries

import (
	"cmp"
	"regexp"
	"strings"

	"promoter/internal/webhook/payload"
)

// ecrEvent is the request of Amazon EventBridge for a registry: its own JSON or a
// CloudEvent.
// https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-eventbridge.html
type ecrEvent struct {
	ID      string    `json:"id"`
	Source  string    `json:"source"` // aws.ecr; of a CloudEvent urn:aws:ecr:REGION:ACCOUNT:repository/NAME
	Type    string    `json:"detail-type"`
	Account string    `json:"account"`
	Region  string    `json:"region"`
	Detail  ecrDetail `json:"detail"`

	SpecVersion string    `json:"specversion"`
	CloudType   string    `json:"type"`
	Subject     string    `json:"subject"`
	Data        ecrDetail `json:"data"`
}

type ecrDetail struct {
	Action     string `json:"action-type"`
	Result     string `json:"result"`
	Repository string `json:"repository-name"`
	Tag        string `json:"image-tag"`
	Digest     string `json:"image-digest"`

	CloudRepository string `json:"repositoryName"`
	CloudTag        string `json:"imageTag"`
	CloudDigest     string `json:"imageDigest"`
}

// pushed reports whether the registry has a new image. A replication is reported by the
// target registry.
func (d ecrDetail) pushed() bool {
	return d.Result == "SUCCESS" && (d.Action == "PUSH" || d.Action == "REPLICATE")
}

// ECR decodes what EventBridge posts of a private registry.
func ECR(r payload.Request) (payload.Delivery, error) {
	e, err := payload.Read[ecrEvent](r)
	switch {
	case err != nil:
		return payload.Delivery{}, err
	case e.SpecVersion != "":
		return cloudECR(e)
	case e.Type == "":
		return payload.Delivery{}, payload.Missing("detail-type")
	case e.Source != "aws.ecr" || !e.Detail.pushed():
		return payload.Ignored(e.Type, "only pushes to ECR that succeeded matter")
	}
	return pushedToECR(e.ID, e.Type, e.Account, e.Region, e.Detail.Repository, e.Detail.Tag, e.Detail.Digest)
}

var ecrSource = regexp.MustCompile(`^(?:urn|arn):aws[a-z-]*:ecr:([a-z0-9-]+):([0-9]{12}):repository/`)

func cloudECR(e ecrEvent) (payload.Delivery, error) {
	source := ecrSource.FindStringSubmatch(e.Source)
	switch {
	case e.CloudType == "":
		return payload.Delivery{}, payload.Missing("type")
	case !strings.HasPrefix(e.CloudType, "com.amazon.ecr.image.push"):
		return payload.Ignored(e.CloudType, "only pushes to ECR matter")
	case source == nil:
		return payload.Delivery{}, payload.Missing("source that names region and account")
	}
	name, tag, _ := strings.Cut(e.Subject, ":")
	name, tag = cmp.Or(e.Data.CloudRepository, name), cmp.Or(e.Data.CloudTag, tag)
	return pushedToECR(e.ID, e.CloudType, source[2], source[1], name, tag, e.Data.CloudDigest)
}

// pushedToECR builds the host from account and region. China and the European sovereign
// cloud have domains of their own.
// https://docs.aws.amazon.com/general/latest/gr/ecr.html
func pushedToECR(id, eventType, account, region, repository, tag, digest string) (payload.Delivery, error) {
	switch {
	case account == "" || region == "":
		return payload.Delivery{}, payload.Missing("account and region")
	case repository == "":
		return payload.Delivery{}, payload.Missing("repository-name")
	case tag == "" && digest == "":
		return payload.Delivery{}, payload.Missing("image-tag")
	}
	domain := "amazonaws.com"
	switch partition, _, _ := strings.Cut(region, "-"); partition {
	case "cn":
		domain = "amazonaws.com.cn"
	case "eusc":
		domain = "amazonaws.eu"
	}
	d := payload.Delivery{ID: id, EventType: eventType}
	for _, service := range []string{".dkr.ecr.", ".dkr.ecr-fips."} {
		d.Events = append(d.Events, payload.ImageEvent(account+service+region+"."+domain, repository, tag, digest))
	}
	return d, nil
}
