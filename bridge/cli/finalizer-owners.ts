/*
 * Other people's finalizers: who probably put them there, and what they wait for. By names that are well known in the
 * field, and by managedFields, which say which client wrote the entry (a client chooses that name itself: evidence, no
 * proof). Called by explain; nothing here ever advises to take one off.
 */
import { managersOf, ownsFinalizer } from '../managed-fields.ts';
import type { KubeObject } from '../ports.ts';

/** Who is behind a finalizer, as far as can be told. */
export interface OtherFinalizer {
  readonly finalizer: string;
  readonly owner: string;
  readonly waitsFor: string;
  /** The client that wrote the entry last, and when. */
  readonly writtenBy?: { readonly manager: string; readonly time?: string | undefined } | undefined;
}

interface Known {
  readonly names: RegExp;
  readonly owner: string;
  readonly waitsFor: string;
}

const CLOUD_CONTROLLER = "the cluster's cloud controller manager";

/** The first that fits counts. */
const KNOWN: readonly Known[] = [
  {
    names: /^foregroundDeletion$/,
    owner: "Kubernetes' garbage collector",
    waitsFor: 'objects that this one owns and that block its deletion (ownerReferences) to be gone first',
  },
  {
    names: /^orphan$/,
    owner: "Kubernetes' garbage collector",
    waitsFor: 'the objects that this one owns to lose their reference to it',
  },
  {
    names: /^kubernetes\.io\/pvc-protection$/,
    owner: "Kubernetes' PVC protection controller",
    waitsFor: 'every Pod that uses the claim to end',
  },
  {
    names: /^kubernetes\.io\/pv-protection$/,
    owner: "Kubernetes' PV protection controller",
    waitsFor: 'the claim that is bound to the volume to be gone',
  },
  {
    names: /^(external-provisioner\.volume\.kubernetes\.io\/finalizer|kubernetes\.io\/pv-controller)$/,
    owner: 'the CSI external-provisioner, or the PV controller',
    waitsFor: 'the volume to be deleted by its storage driver',
  },
  {
    names: /^external-attacher\//,
    owner: 'the CSI external-attacher of the driver in its name',
    waitsFor: 'the volume to be detached from its node',
  },
  {
    names: /^snapshot\.storage\.kubernetes\.io\//,
    owner: 'the CSI snapshot controller',
    waitsFor: 'snapshots in progress, or volumes that are being made from the snapshot',
  },
  {
    names: /^service\.kubernetes\.io\/load-balancer-cleanup$/,
    owner: CLOUD_CONTROLLER,
    waitsFor: "the service's load balancer to be deleted in the cloud",
  },
  {
    names: /^(service\.k8s\.aws|ingress\.k8s\.aws|elbv2\.k8s\.aws)\//,
    owner: 'the AWS Load Balancer Controller',
    waitsFor: 'its load balancer, target group or security groups to be deleted',
  },
  {
    names: /^networking\.gke\.io\//,
    owner: "GKE's ingress and network controllers",
    waitsFor: 'its load balancer resources to be deleted',
  },
  {
    names: /^batch\.kubernetes\.io\/job-tracking$/,
    owner: "Kubernetes' Job controller",
    waitsFor: "the Pod's end to be counted in its Job's status; stays when the Job controller is away",
  },
  {
    names: /^kubernetes$/,
    owner: "Kubernetes' namespace controller",
    waitsFor: 'everything in the namespace to be gone',
  },
  {
    names: /^customresourcecleanup\.apiextensions\.k8s\.io$/,
    owner: 'Kubernetes (apiextensions)',
    waitsFor: 'every object of this kind to be gone, each with its own finalizers',
  },
  {
    names: /^finalizer\.managedresource\.crossplane\.io$/,
    owner: 'the Crossplane provider of this kind',
    waitsFor: 'its external resource to be deleted, or its deletionPolicy to say Orphan',
  },
  {
    names:
      /^(finalizer\.apiextensions\.crossplane\.io|composite\.apiextensions\.crossplane\.io|defined\.apiextensions\.crossplane\.io|offered\.apiextensions\.crossplane\.io|in-use\.crossplane\.io)$/,
    owner: 'Crossplane',
    waitsFor: 'the composed resources, claims or usages that belong to it to be gone',
  },
  {
    names: /^finalizers\.([a-z0-9-]+)\.services\.k8s\.aws\//,
    owner: 'the ACK controller of the AWS service in its name',
    waitsFor: 'its AWS resource to be deleted, unless its deletion policy says retain',
  },
  {
    names: /(^|\.)cluster\.x-k8s\.io(\/|$)/,
    owner: 'Cluster API, or its infrastructure provider',
    waitsFor: 'machines, nodes and infrastructure that belong to it to be gone',
  },
  {
    names:
      /^(finalizers\.|foreground\.finalizers\.|background\.finalizers\.)?(resources-finalizer|post-delete-finalizer|pre-delete-finalizer)?\.?argocd\.argoproj\.io(\/.*)?$/,
    owner: 'Argo CD',
    waitsFor: "the application's resources to be deleted",
  },
  {
    names: /^finalizers\.fluxcd\.io$/,
    owner: 'Flux',
    waitsFor: 'what it applied to be pruned; not while the resource is suspended',
  },
  { names: /^karpenter\.sh\//, owner: 'Karpenter', waitsFor: 'the node to be drained and its instance terminated' },
  {
    names: /^(infra\.contrib\.fluxcd\.io|finalizers\.tf\.contrib\.fluxcd\.io|.*terraform.*)(\/.*)?$/i,
    owner: 'a Terraform controller',
    waitsFor: 'its destroy run to be done',
  },
];

const UNKNOWN = 'whatever its owner does at deletion; look for a controller of that domain';

/** Says who is behind each of an object's finalizers that is not ours. */
export function otherFinalizers(object: KubeObject, isOurs: (finalizer: string) => boolean): readonly OtherFinalizer[] {
  const others = (object.metadata.finalizers ?? []).filter((finalizer) => !isOurs(finalizer));
  return [...new Set(others)].map((finalizer) => {
    const known = KNOWN.find(({ names }) => names.test(finalizer));
    return {
      finalizer,
      owner: known?.owner ?? ownerByName(finalizer),
      waitsFor: known?.waitsFor ?? UNKNOWN,
      writtenBy: writerOf(object, finalizer),
    };
  });
}

/** An unknown one at least has a domain. */
function ownerByName(finalizer: string): string {
  const [domain = '', name] = finalizer.split('/');
  return name === undefined ? 'unknown' : `unknown; of the domain ${domain}`;
}

/** Who wrote an entry, by managedFields: the newest that names it. */
function writerOf(object: KubeObject, finalizer: string): OtherFinalizer['writtenBy'] {
  const writers = managersOf(object.metadata.managedFields).flatMap((owner) => {
    const { manager, time } = owner;
    return manager !== undefined && ownsFinalizer(owner, finalizer) ? [{ manager, time }] : [];
  });
  return writers.sort((left, right) => (right.time ?? '').localeCompare(left.time ?? ''))[0];
}
