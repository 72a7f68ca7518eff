/** Types of a credential (000 §5.1.6). */
export const CREDENTIAL_TYPES = ['api_key', 'oauth_token', 'aws_iam', 'gcp_sa', 'azure_ad'] as const;
/** How often a credential is replaced; `on_demand` is never due. */
export const ROTATION_SCHEDULES = ['daily', 'weekly', 'on_demand'] as const;

/** What an operator says of a credential; its value is in the secret store alone. */
export interface Credential {
  readonly name: string;
  readonly tenantId: string;
  readonly type: (typeof CREDENTIAL_TYPES)[number];
  /** Epoch ms; absent for one without an end. */
  readonly expiresAt?: number;
  readonly rotationSchedule: (typeof ROTATION_SCHEDULES)[number];
  /** Epoch ms of the last rotation; always there for a daily or weekly schedule. */
  readonly rotatedAt?: number;
  readonly serviceName?: string;
  readonly scopes?: readonly string[];
}
