import { TokenExplainRequest, TokenExplanation } from '../../../api/schemas/capability-token.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/**
 * Explains a token or API key. For a token of another tenant the asker learns only its claims: whether it is known or
 * revoked stays between that tenant and the layer.
 */
export const explainToken = operation({
  name: 'tokens.explain',
  summary: 'Explain a token claim by claim, and why it would be refused',
  method: 'POST',
  path: '/v1/tokens/explanation',
  status: 200,
  access: 'operator',
  input: TokenExplainRequest,
  output: TokenExplanation,
  run:
    ({ authenticator }: Pick<OperationParts, 'authenticator'>) =>
    async ({ token }, { principal, caller }) => {
      const explanation = await authenticator.explain(token.trim());
      const tenant = explanation.claims.find(({ name }) => name === 'tenant_id')?.value;
      if (caller.local === true || tenant === undefined || tenant === principal.tenantId) return explanation;
      const foreign = { e_code: 'E3809', message: 'It is of another tenant: only that tenant sees its state.' };
      const kind = explanation.kind === 'api_key' ? 'unreadable' : explanation.kind;
      const claims = explanation.kind === 'api_key' ? [] : explanation.claims;
      return { ...explanation, kind, claims, accepted: false, reasons: [foreign] };
    },
});
