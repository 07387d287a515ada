/*
 * An error answer of a service that is not AWS's, in the shape in which aws-errors.ts reads errors. Thrown by the senders of
 * handlers that speak HTTP themselves; what its code means is said by the handler's own table, else by its status.
 */

/** What a service answered. */
export interface ServiceAnswer {
  /** A stable word of the handler's own, which its `errors` may name: `NotFound`. */
  readonly code: string;
  /** HTTP status. */
  readonly status: number;
  /** What the service said, for the log. */
  readonly message: string;
}

/** An answer that is no success. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: string;
  readonly $metadata: { readonly httpStatusCode: number };
  constructor({ code, status, message }: ServiceAnswer) {
    super(message);
    this.code = code;
    this.$metadata = { httpStatusCode: status };
  }
}
