package registries

import (
	"cmp"
	"strings"

	"promoter/internal/event"
	"promoter/internal/webhook/payload"
)

// Aliyun decodes the notification of a trigger of Alibaba Cloud Container Registry. The host
// depends on the instance, on its custom domains, and on the network, and is not part of the
// notification: the event matches any.
// https://www.alibabacloud.com/help/doc-detail/60949.htm
func Aliyun(r payload.Request) (payload.Delivery, error) {
	push, err := payload.Read[struct {
		PushData struct {
			Tag    string `json:"tag"`
			Digest string `json:"digest"`
		} `json:"push_data"`
		Repository struct {
			FullName  string `json:"repo_full_name"`
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"repository"`
	}](r)
	if err != nil {
		return payload.Delivery{}, err
	}
	path := cmp.Or(push.Repository.FullName, strings.Trim(push.Repository.Namespace+"/"+push.Repository.Name, "/"))
	switch {
	case path == "":
		return payload.Delivery{}, payload.Missing("repository.repo_full_name")
	case push.PushData.Tag == "" && push.PushData.Digest == "":
		return payload.Delivery{}, payload.Missing("push_data.tag")
	}
	e := payload.ImageEvent("", path, push.PushData.Tag, push.PushData.Digest)
	return payload.Delivery{EventType: "push", Events: []event.Event{e}}, nil
}
