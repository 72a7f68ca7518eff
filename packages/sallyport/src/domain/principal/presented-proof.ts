/** A proof that the sender holds the key of its token (DPoP, RFC 9449), as it came with a request, not yet checked. */
export interface PresentedProof {
  /** Value of the header `DPoP`; empty when the request has none. */
  readonly jwt: string;
  readonly method: string;
  /** Value of the header `Host`. */
  readonly host: string;
  /** Path of the address, without query. */
  readonly path: string;
}
