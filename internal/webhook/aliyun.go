package webhook

import (
	"strings"

	"promoter/internal/event"
)

// aliyun decodes the notification of a trigger of Alibaba Cloud Container Registry. The host
// depends on the instance, on its custom domains, and on the network, and is not part of the
// notification: the event matches any.
// https://www.alibabacloud.com/help/doc-detail/60949.htm
func aliyun(r Request) (Delivery, error) {
	push, err := read[struct {
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
		return Delivery{}, err
	}
	path := firstOf(push.Repository.FullName, strings.Trim(push.Repository.Namespace+"/"+push.Repository.Name, "/"))
	switch {
	case path == "":
		return Delivery{}, missing("repository.repo_full_name")
	case push.PushData.Tag == "" && push.PushData.Digest == "":
		return Delivery{}, missing("push_data.tag")
	}
	e := imageEvent("", path, push.PushData.Tag, push.PushData.Digest)
	return Delivery{EventType: "push", Events: []event.Event{e}}, nil
}
