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

/** The head of an answer, before its body is read. */
export interface AnswerHead {
  readonly status: number;
  /** Names in lower case; of a field that came several times the values are joined as RFC 9110 §5.3 says. */
  readonly headers: IncomingHttpHeaders;
}

/** An answer with an unread body. The receiver must read `message` to its end, or destroy it. */
export interface OpenAnswer extends AnswerHead {
  /** The raw body: still compressed when the service compressed it. */
  readonly message: IncomingMessage;
  /** Bytes of this request alone; a kept-alive connection may have served others. */
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
