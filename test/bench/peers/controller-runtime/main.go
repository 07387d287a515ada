// The finalizer controller that one would write with controller-runtime: it takes an entry off ConfigMaps that are being
// deleted, and does nothing else. Built and started by test/bench/peers.ts, to be measured beside the bridge.
package main

import (
	"context"
	"flag"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// remover takes the entry off.
type remover struct {
	client client.Client
	entry  string
}

// Reconcile reads from the cache and writes with the resourceVersion as precondition, as the bridge does.
func (r *remover) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var object corev1.ConfigMap
	if err := r.client.Get(ctx, request.NamespacedName, &object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if object.DeletionTimestamp.IsZero() || !controllerutil.ContainsFinalizer(&object, r.entry) {
		return reconcile.Result{}, nil
	}
	before := object.DeepCopy()
	controllerutil.RemoveFinalizer(&object, r.entry)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return reconcile.Result{}, client.IgnoreNotFound(r.client.Patch(ctx, &object, patch))
}

func main() {
	entry := flag.String("entry", "", "the finalizer to take off")
	label := flag.String("label", "", "the label of the objects, as key=value")
	concurrency := flag.Int("concurrency", 32, "reconciles at a time")
	// The flag --kubeconfig is the library's own.
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*entry, *label, *concurrency); err != nil {
		log.Fatal(err)
	}
}

func run(entry, label string, concurrency int) error {
	selector, err := labels.Parse(label)
	if err != nil {
		return err
	}
	rest, err := config.GetConfig()
	if err != nil {
		return err
	}
	// The client's own limit of 20 calls a second would be all that is measured.
	rest.QPS = -1
	resync := 10 * time.Hour
	made, err := manager.New(rest, manager.Options{
		Cache: cache.Options{
			SyncPeriod: &resync,
			ByObject:   map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Label: selector}},
		},
		Metrics: server.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(made).
		For(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(&remover{client: made.GetClient(), entry: entry})
	if err != nil {
		return err
	}
	return made.Start(ctrl.SetupSignalHandler())
}
