{{/* What an installation is refused for, with a message that says what to do. */}}

{{- define "finalizer-bridge.refuseSecond" -}}
{{- $other := (lookup "v1" "ConfigMap" "kube-system" "finalizer-bridge").data }}
{{- if $other }}
{{- if or (ne (get $other "release") .Release.Name) (ne (get $other "namespace") .Release.Namespace) }}
{{- printf "\n\nFinalizer Bridge is installed in this cluster already: release %s in namespace %s.\nThere is one installation per cluster, because rules are the whole cluster's. Upgrade that one\n(helm upgrade %s -n %s …), or uninstall it first.\nIf it is gone without a trace: kubectl -n kube-system delete configmap finalizer-bridge\n" (get $other "release") (get $other "namespace") (get $other "release") (get $other "namespace") | fail }}
{{- end }}
{{- end }}
{{- end }}
