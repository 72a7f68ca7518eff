/** How mail about approvals is sent. */
export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** `tls` from the first byte; `starttls`, without which nothing is sent; `none` to a loopback address only. */
  readonly security: 'tls' | 'starttls' | 'none';
  /** Address that mail comes from. */
  readonly from: string;
  /** Addresses that get every notice, without answer tokens, beside the approvers whose id is a `mailto:` address. */
  readonly to?: readonly string[];
  /** Names of the secrets that hold user and password; absent: no sign-in. */
  readonly userSecret?: string;
  readonly passwordSecret?: string;
  /** Page on which an approver answers with a token; the token stands behind its `#`. Absent: mail names the token alone. */
  readonly answerUrl?: string;
}
