{{- define "promoter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* A name of a CronJob has at most 52 characters. */ -}}
{{- define "promoter.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains (include "promoter.name" .) .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "promoter.name" .) | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "promoter.selector" -}}
app.kubernetes.io/name: {{ include "promoter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "promoter.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "promoter.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "promoter.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "promoter.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "promoter.image" -}}
{{- $repository := required "image.repository is empty: push the image that `make image` builds, and set its name (docs/operate/install.md#the-image)" .Values.image.repository }}
{{- if .Values.image.digest }}
{{- printf "%s@%s" $repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "promoter.probe" -}}
{{- if .Values.tls.existingSecret }}, scheme: HTTPS{{ end }}
{{- end }}

{{- define "promoter.configMap" -}}
{{- default (include "promoter.fullname" .) .Values.existingConfigMap }}
{{- end }}

{{- /* Whether there is a volume, and whether the chart creates its claim. */ -}}
{{- define "promoter.hasClaim" -}}
{{- if and .Values.persistence.enabled (or (eq .Values.mode "cronjob") (eq .Values.database.kind "sqlite")) }}true{{ end }}
{{- end }}

{{- define "promoter.claim" -}}
{{- default (include "promoter.fullname" .) .Values.persistence.existingClaim }}
{{- end }}
