/*
 * A schema as the handlers' authors may write one. Used by handler.ts for targets, options and settings.
 * Read by functions of the schema library, not by methods, so that both of its editions count.
 */
import type * as z from 'zod/mini';

/** A schema of Zod 4, of `zod` or of `zod/mini`; the latter keeps a function small. */
export type Schema<T = unknown> = z.core.$ZodType<T>;
