/*
 * What errors on the way to a webhook mean, by code. Pure. Used by webhook.ts; aws-errors.ts knows those of any network.
 * None of them proves anything about the target, so all mean "again"; the reason tells people whom to ask.
 */
import type { ErrorRow, ErrorTable } from '../../aws-errors.ts';

const again = (reason: string): ErrorRow => ({ means: 'again', reason });

/** Codes of Node.js for `webhook:Ask`. */
export const webhookErrors: ErrorTable = {
  'webhook:Ask': {
    // An abort that is not the end of the run is the time-out of the call.
    ABORT_ERR: again('Unreachable'),
    ResponseTooLarge: again('ResponseTooLarge'),
    CERT_HAS_EXPIRED: again('CertificateInvalid'),
    CERT_NOT_YET_VALID: again('CertificateInvalid'),
    CERT_REVOKED: again('CertificateInvalid'),
    CERT_UNTRUSTED: again('CertificateInvalid'),
    DEPTH_ZERO_SELF_SIGNED_CERT: again('CertificateInvalid'),
    SELF_SIGNED_CERT_IN_CHAIN: again('CertificateInvalid'),
    UNABLE_TO_GET_ISSUER_CERT: again('CertificateInvalid'),
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: again('CertificateInvalid'),
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: again('CertificateInvalid'),
    ERR_TLS_CERT_ALTNAME_INVALID: again('CertificateInvalid'),
  },
};
