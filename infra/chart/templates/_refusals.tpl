{{/* What an installation is refused for, with a message that says what to do. */}}

{{- define "finalizer-bridge.refuseNamespaces" -}}
{{- if and .Values.leavingNamespaces (not .Values.namespaces) }}
{{- fail "\n\nleavingNamespaces without namespaces: the whole cluster is served, so no namespace is left." }}
{{- end }}
{{- range .Values.leavingNamespaces }}
{{- if has . $.Values.namespaces }}
{{- printf "\n\nNamespace %s is in namespaces and in leavingNamespaces: it is served, or it is left." . | fail }}
{{- end }}
{{- end }}
{{- end }}

{{/*
An upgrade that simply serves a namespace no more: what carries an entry there would never be let go. Where no rule is left
nothing does. Told here while the cluster can be asked, and by the rules themselves when an upgrade came another way.
*/}}
{{- define "finalizer-bridge.refuseLeaving" -}}
{{- $before := (lookup "v1" "ConfigMap" "kube-system" "finalizer-bridge").data }}
{{- if and .Values.namespaces $before (.Capabilities.APIVersions.Has "finalizer-bridge.dev/v1alpha1/TeardownRule") }}
{{- if (lookup "finalizer-bridge.dev/v1alpha1" "TeardownRule" "" "").items }}
{{- range default "[\"*\"]" (get $before "namespaces") | fromJsonArray }}
{{- if eq . "*" }}
{{- fail "\n\nThe whole cluster is served, and there are rules: objects in other namespaces may carry their entries, and would never\nbe let go. Drain first: kubectl finalizer-bridge drain\nThen upgrade, and apply the rules again.\n" }}
{{- end }}
{{- $isKept := or (has . $.Values.namespaces) (has . $.Values.leavingNamespaces) }}
{{- if and (not $isKept) (lookup "v1" "Namespace" "" .) }}
{{- printf "\n\nNamespace %s is served, and is not among the values any more: objects there may carry entries, and would never be let\ngo. Put it under leavingNamespaces; when no rule names it in status.namespaces any more, take it off there.\n" . | fail }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "finalizer-bridge.refuseSecond" -}}
{{- $other := (lookup "v1" "ConfigMap" "kube-system" "finalizer-bridge").data }}
{{- if $other }}
{{- if or (ne (get $other "release") .Release.Name) (ne (get $other "namespace") .Release.Namespace) }}
{{- printf "\n\nFinalizer Bridge is installed in this cluster already: release %s in namespace %s.\nThere is one installation per cluster, because rules are the whole cluster's. Upgrade that one\n(helm upgrade %s -n %s …), or uninstall it first.\nIf it is gone without a trace: kubectl -n kube-system delete configmap finalizer-bridge\n" (get $other "release") (get $other "namespace") (get $other "release") (get $other "namespace") | fail }}
{{- end }}
{{- end }}
{{- end }}
