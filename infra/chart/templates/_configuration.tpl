{{/* The bridge's configuration file, out of the values. What it may hold is said by bridge/config.ts. */}}

{{- define "finalizer-bridge.configuration" -}}
{{- $kinds := list }}
{{- range .Values.kinds }}
{{- $kinds = append $kinds (pick . "group" "version" "resource") }}
{{- end }}
{{- $handlers := dict }}
{{- range $name, $handler := .Values.handlers }}
{{- $_ := set $handlers $name (pick $handler "queue" "sender") }}
{{- end }}
{{- $queues := dict
  "region" (required "queues.region is required: the AWS region of the queues" .Values.queues.region)
  "results" (required "queues.results is required: the URL of the result queue of this cluster, an output of the functions' stack" .Values.queues.results)
}}
{{- with .Values.queues.endpoint }}
{{- $_ := set $queues "endpoint" . }}
{{- end }}
{{- $configuration := dict "kinds" $kinds "queues" $queues "handlers" $handlers "server" .Values.server "log" .Values.log }}
{{- if .Values.namespaces }}
{{- $_ := set $configuration "namespaces" .Values.namespaces }}
{{- $_ := set $configuration "leavingNamespaces" .Values.leavingNamespaces }}
{{- end }}
{{- with .Values.cluster.name }}
{{- $_ := set $configuration "cluster" (dict "name" .) }}
{{- end }}
{{- with .Values.deadLetters.sender }}
{{- $_ := set $configuration "deadLetters" (dict "sender" .) }}
{{- end }}
{{- toYaml $configuration }}
{{- end }}
