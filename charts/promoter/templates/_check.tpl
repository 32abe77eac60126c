{{- /* Refuses combinations of values that do not work, before an object is rendered. */ -}}
{{- define "promoter.check" -}}
{{- $v := .Values }}
{{- $config := default dict $v.config }}
{{- range $key := list "listen" "metrics" "data" "database" }}
{{- if hasKey $config $key }}
{{- fail (printf "config.%s is set by the chart: leave it out; for the database see the value database" $key) }}
{{- end }}
{{- end }}
{{- if hasKey $config "tls" }}
{{- fail "config.tls is set by the chart: name the Secret with the certificate in tls.existingSecret" }}
{{- end }}
{{- if not (or $v.existingConfigMap $config.forges) }}
{{- fail "config names no forges, so promoter would not start: write promoter-server.yaml there (docs/configuration.md), or name existingConfigMap" }}
{{- end }}
{{- if and $v.config $v.existingConfigMap }}
{{- fail "config and existingConfigMap are both set: keep one of them" }}
{{- end }}
{{- range $key := list "serviceAccountName" "automountServiceAccountToken" "enableServiceLinks" "imagePullSecrets" "priorityClassName" "securityContext" "nodeSelector" "affinity" "tolerations" "topologySpreadConstraints" "terminationGracePeriodSeconds" "restartPolicy" "containers" "volumes" }}
{{- if hasKey $v.extraPodSpec $key }}
{{- fail (printf "extraPodSpec.%s is set by the chart: leave it out, and use the value for it" $key) }}
{{- end }}
{{- end }}
{{- if eq $v.mode "cronjob" }}
{{- include "promoter.check.cronjob" . }}
{{- else }}
{{- include "promoter.check.serve" . }}
{{- end }}
{{- end }}

{{- define "promoter.check.cronjob" -}}
{{- $v := .Values }}
{{- if ne $v.database.kind "sqlite" }}
{{- fail "mode cronjob has no database: leave database.kind out, or use mode serve" }}
{{- end }}
{{- if gt (int $v.replicas) 1 }}
{{- fail "mode cronjob runs one pass at a time: leave replicas at 1, or use mode serve with PostgreSQL" }}
{{- end }}
{{- if $v.tls.existingSecret }}
{{- fail "mode cronjob has no port: leave tls.existingSecret empty" }}
{{- end }}
{{- if $v.serviceMonitor.enabled }}
{{- fail "mode cronjob has no port for /metrics: leave serviceMonitor.enabled at false" }}
{{- end }}
{{- if $v.dashboards.enabled }}
{{- fail "mode cronjob has no metrics to show: leave dashboards.enabled at false" }}
{{- end }}
{{- if $v.ingress.enabled }}
{{- fail "mode cronjob takes no webhooks: leave ingress.enabled at false, or use mode serve" }}
{{- end }}
{{- if $v.httpRoute.enabled }}
{{- fail "mode cronjob takes no webhooks: leave httpRoute.enabled at false, or use mode serve" }}
{{- end }}
{{- end }}

{{- define "promoter.check.serve" -}}
{{- $v := .Values }}
{{- if eq $v.database.kind "postgresql" }}
{{- if not $v.database.existingSecret }}
{{- fail "database.kind is postgresql: name the Secret that holds the URL in database.existingSecret" }}
{{- end }}
{{- if $v.persistence.existingClaim }}
{{- fail "database.kind is postgresql, which uses no volume: leave persistence.existingClaim empty" }}
{{- end }}
{{- else }}
{{- if gt (int $v.replicas) 1 }}
{{- fail (printf "replicas is %d and database.kind is sqlite: one process uses the file; set database.kind to postgresql, or replicas to 1" (int $v.replicas)) }}
{{- end }}
{{- if $v.database.existingSecret }}
{{- fail "database.existingSecret is set and database.kind is sqlite: set database.kind to postgresql" }}
{{- end }}
{{- end }}
{{- if and $v.serviceMonitor.enabled $v.networkPolicy.enabled (not $v.networkPolicy.metricsFrom) }}
{{- fail "serviceMonitor.enabled is true, and the NetworkPolicy lets no pod reach the port of metrics: name the namespace of Prometheus in networkPolicy.metricsFrom, such as [monitoring]" }}
{{- end }}
{{- if and $v.prometheusRule.enabled (not $v.serviceMonitor.enabled) }}
{{- fail "prometheusRule.enabled is true: its alerts are about what the ServiceMonitor scrapes, set serviceMonitor.enabled to true" }}
{{- end }}
{{- if and $v.ingress.enabled (not $v.ingress.hosts) }}
{{- fail "ingress.enabled is true: name the hosts in ingress.hosts" }}
{{- end }}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) }}
{{- fail "httpRoute.enabled is true: name the Gateways in httpRoute.parentRefs" }}
{{- end }}
{{- end }}
