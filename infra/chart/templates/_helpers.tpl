{{/* Names and labels that all templates share. */}}

{{- define "finalizer-bridge.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* 52 characters at most, so that a suffix of ours still makes a DNS label. */}}
{{- define "finalizer-bridge.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- $name := include "finalizer-bridge.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{/* Of cluster-scoped objects: two releases of one name in two namespaces do not meet. */}}
{{- define "finalizer-bridge.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "finalizer-bridge.fullname" .) }}
{{- end }}

{{- define "finalizer-bridge.selectorLabels" -}}
app.kubernetes.io/name: {{ include "finalizer-bridge.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: bridge
{{- end }}

{{/* Of every object; the component is told by those that are not part of the bridge itself. */}}
{{- define "finalizer-bridge.commonLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: finalizer-bridge
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "finalizer-bridge.labels" -}}
{{ include "finalizer-bridge.selectorLabels" . }}
{{ include "finalizer-bridge.commonLabels" . }}
{{- end }}

{{- define "finalizer-bridge.drainLabels" -}}
app.kubernetes.io/name: {{ include "finalizer-bridge.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: drain
{{ include "finalizer-bridge.commonLabels" . }}
{{- end }}

{{- define "finalizer-bridge.peopleLabels" -}}
app.kubernetes.io/name: {{ include "finalizer-bridge.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: people
{{ include "finalizer-bridge.commonLabels" . }}
{{- end }}

{{- define "finalizer-bridge.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "finalizer-bridge.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* The account of the hook that drains before an uninstallation. */}}
{{- define "finalizer-bridge.drainServiceAccountName" -}}
{{- printf "%s-drain" (include "finalizer-bridge.fullname" .) }}
{{- end }}

{{/*
What makes an object a part of the drain before an uninstallation: it is there only while that runs.
Called with a dict of context and weight; accounts and rights have -10, the Job has 0.
*/}}
{{- define "finalizer-bridge.drainHook" -}}
helm.sh/hook: pre-delete
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/* The namespaces that are looked into, as a JSON list: those that are served and those that are being left; none for all. */}}
{{- define "finalizer-bridge.lookedInto" -}}
{{- ternary (concat .Values.namespaces .Values.leavingNamespaces | uniq) list (gt (len .Values.namespaces) 0) | toJson }}
{{- end }}

{{/*
The kinds, each once whatever its versions, as a JSON list of group, resource, name (as Kubernetes names it) and label: the
hash by which the binding of a kind finds its rules.
*/}}
{{- define "finalizer-bridge.kinds" -}}
{{- $kinds := list }}
{{- range .Values.kinds }}
{{- $name := ternary .resource (printf "%s.%s" .resource .group) (eq .group "") }}
{{- $kinds = append $kinds (dict "group" .group "resource" .resource "name" $name "label" (sha256sum $name | trunc 32)) }}
{{- end }}
{{- $kinds | uniq | toJson }}
{{- end }}
