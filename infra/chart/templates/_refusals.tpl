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
An upgrade that looks into a namespace no more in which objects may carry an entry: nobody would ever let them go. One that is
served has to be left first, and a rule says in its status when it is. Where no rule is there nothing carries an entry. Told here
while the cluster can be asked, and by the rules themselves when an upgrade came another way.
*/}}
{{- define "finalizer-bridge.refuseLeaving" -}}
{{- $before := default dict (lookup "v1" "ConfigMap" "kube-system" "finalizer-bridge").data }}
{{- $kept := concat .Values.namespaces .Values.leavingNamespaces }}
{{- if and .Values.namespaces (.Capabilities.APIVersions.Has "finalizer-bridge.dev/v1alpha1/TeardownRule") }}
{{- $rules := (lookup "finalizer-bridge.dev/v1alpha1" "TeardownRule" "" "").items }}
{{- if and $rules $before }}
{{- range default "[\"*\"]" (get $before "namespaces") | fromJsonArray }}
{{- if eq . "*" }}
{{- fail "\n\nThe whole cluster is served, and there are rules: objects in other namespaces may carry their entries, and would never\nbe let go. Drain first: kubectl finalizer-bridge drain\nThen upgrade, and apply the rules again.\n" }}
{{- end }}
{{- if and (not (has . $kept)) (lookup "v1" "Namespace" "" .) }}
{{- printf "\n\nNamespace %s is served, and is not among the values any more: objects there may carry entries, and would never be let\ngo. Put it under leavingNamespaces; when no rule names it in status.namespaces any more, take it off there.\n" . | fail }}
{{- end }}
{{- end }}
{{- end }}
{{- /* What was served may be left now, or was left behind by an upgrade that nobody asked: the rules know. */}}
{{- range $rule := $rules }}
{{- range dig "status" "namespaces" list $rule }}
{{- if and (ne . "*") (not (has . $kept)) (lookup "v1" "Namespace" "" .) }}
{{- printf "\n\nNamespace %s is among the values no more, and objects there may carry the entry of rule %s, which names it in\nstatus.namespaces: they would never be let go. Put it under leavingNamespaces until no rule names it any more.\n" . $rule.metadata.name | fail }}
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
