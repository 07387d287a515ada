/*
 * A key and a certificate for hooks.example.com that signs itself, for servers of tests: Node.js can make no certificates.
 * Elliptic curve P-256, valid from 2020 to 2120. Trusted by nobody who is not told to.
 */

/** The name that the certificate is for. */
export const HOOKS_HOST = 'hooks.example.com';

/** PEM. */
export const HOOKS_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBbDCCAROgAwIBAgIUYmiRzzGg6tyG/QCz8MWW5YvZUGgwCgYIKoZIzj0EAwIw
HDEaMBgGA1UEAwwRaG9va3MuZXhhbXBsZS5jb20wIBcNMjAwMTAxMDAwMDAwWhgP
MjEyMDAxMDEwMDAwMDBaMBwxGjAYBgNVBAMMEWhvb2tzLmV4YW1wbGUuY29tMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEso7/HVSlcwWesN9ojLmimBDbduJvKJdK
KPZLsClOL2Yg1PLjBF6+TLUvFBC3Fa9aiCqyi8v7Tf0t3bFneb8nUqMxMC8wDwYD
VR0TAQH/BAUwAwEB/zAcBgNVHREEFTATghFob29rcy5leGFtcGxlLmNvbTAKBggq
hkjOPQQDAgNHADBEAiAqnOhRoi/D2sofrBwuiodnkizgUq3k4suCVKp8ezPoNQIg
RFVi1uixR/Iakkao5qU2cY+V/UdMpeqbvf3QHNjYqRU=
-----END CERTIFICATE-----
`;

/** PEM; it guards nothing. */
export const HOOKS_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNQbqfu2DdIaX+uki
Flho8YhsN1EY2ko4/s34HkAYUG6hRANCAASyjv8dVKVzBZ6w32iMuaKYENt24m8o
l0oo9kuwKU4vZiDU8uMEXr5MtS8UELcVr1qIKrKLy/tN/S3dsWd5vydS
-----END PRIVATE KEY-----
`;
