/*
 * Who wrote which of an object's annotations and finalizers, by its managedFields. Pure; asked by audit.ts, at-admission.ts
 * and the command line. A client chooses the name of its manager itself: evidence, no proof.
 */
import * as z from 'zod/mini';

const keys = z.optional(z.record(z.string(), z.unknown()));
const schema = z.array(
  z.object({
    manager: z.optional(z.string()),
    subresource: z.optional(z.string()),
    time: z.optional(z.string()),
    fieldsV1: z.optional(
      z.object({ 'f:metadata': z.optional(z.object({ 'f:annotations': keys, 'f:finalizers': keys })) }),
    ),
  }),
);

/** A manager and what it owns. */
export type Manager = z.output<typeof schema>[number];

/** The managers, in the API server's order; none where they are missing or cannot be read. */
export function managersOf(managedFields: unknown): readonly Manager[] {
  return schema.safeParse(managedFields).data ?? [];
}

/** Whether a manager wrote an annotation. */
export function ownsAnnotation({ fieldsV1 }: Manager, key: string): boolean {
  return Object.hasOwn(fieldsV1?.['f:metadata']?.['f:annotations'] ?? {}, `f:${key}`);
}

/** Whether a manager wrote an entry of `metadata.finalizers`. */
export function ownsFinalizer({ fieldsV1 }: Manager, finalizer: string): boolean {
  return Object.hasOwn(fieldsV1?.['f:metadata']?.['f:finalizers'] ?? {}, `v:${JSON.stringify(finalizer)}`);
}
