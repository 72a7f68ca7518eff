/** Where the Open Policy Agent answers. */
export interface OpaSettings {
  /** Address of a decision, such as `http://localhost:8181/v1/data/tool_execution/allow`. */
  readonly endpoint: string;
  /** Default 500. */
  readonly timeoutMs?: number;
}
