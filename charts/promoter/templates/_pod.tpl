{{- /* The parts of a pod that both modes share. */ -}}
{{- define "promoter.podMeta" -}}
labels:
  {{- include "promoter.labels" . | nindent 2 }}
  {{- with .Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- $annotations := deepCopy .Values.podAnnotations }}
{{- if not .Values.existingConfigMap }}
{{- /* Pods are replaced when their file changes. */ -}}
{{- $_ := set $annotations "checksum/config" (include "promoter.serverFile" . | sha256sum) }}
{{- end }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "promoter.podSpec" -}}
serviceAccountName: {{ include "promoter.serviceAccount" . }}
# promoter does not use the API of Kubernetes.
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.extraPodSpec }}
{{ toYaml . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "promoter.containerSpec" -}}
name: promoter
image: {{ include "promoter.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
{{- end }}

{{- define "promoter.secretEnv" -}}
{{- range $name, $from := .Values.secretEnv }}
- name: {{ $name }}
  valueFrom: {secretKeyRef: {name: {{ $from.secret }}, key: {{ $from.key }}}}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "promoter.mounts" -}}
- {name: config, mountPath: /etc/promoter, readOnly: true}
- {name: tmp, mountPath: /tmp}
{{- range $name, $secret := .Values.secrets }}
- {name: secret-{{ $name }}, mountPath: /run/secrets/{{ $name }}, readOnly: true}
{{- end }}
{{- if .Values.tls.existingSecret }}
- {name: tls, mountPath: /run/tls, readOnly: true}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "promoter.volumes" -}}
- name: config
  configMap: {name: {{ include "promoter.configMap" . }}}
- name: tmp
  emptyDir: {}
- name: data
{{- if include "promoter.hasClaim" . }}
  persistentVolumeClaim: {claimName: {{ include "promoter.claim" . }}}
{{- else if .Values.persistence.emptyDirSize }}
  emptyDir: {sizeLimit: {{ .Values.persistence.emptyDirSize }}}
{{- else }}
  emptyDir: {}
{{- end }}
{{- range $name, $secret := .Values.secrets }}
- name: secret-{{ $name }}
  secret: {secretName: {{ $secret }}, defaultMode: 0440}
{{- end }}
{{- with .Values.tls.existingSecret }}
- name: tls
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
