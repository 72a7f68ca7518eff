import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** A request as it is sent. */
export interface OutboundRequest {
  /** http or https; user name, password and fragment are not sent. */
  readonly url: URL;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

/** What came back for one request, before its body is read. */
export interface AnswerHead {
  readonly status: number;
  /** Names in lower case; of a field that came several times the values are joined as RFC 9110 §5.3 says. */
  readonly headers: IncomingHttpHeaders;
}

/** An answer whose body is still to come. Whoever gets it reads `message` to its end, or destroys it. */
export interface OpenAnswer extends AnswerHead {
  /** As it comes: still compressed where the service compressed it. */
  readonly message: IncomingMessage;
  /** Bytes of this request alone; a kept connection has counted before. */
  traffic(): { readonly bytesSent: number; readonly bytesReceived: number };
}

/** A whole answer. */
export interface OutboundAnswer extends AnswerHead {
  /** Decompressed. */
  readonly body: Buffer;
  /** The body was longer than allowed; the rest was not read. */
  readonly truncated: boolean;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}
