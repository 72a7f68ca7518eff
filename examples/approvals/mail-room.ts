import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';

/** A service that sends letters, and remembers each. */
export interface MailRoom extends AsyncDisposable {
  readonly port: number;
  /** What was sent, in its order: kind and recipient. */
  readonly sent: readonly string[];
}

export async function openMailRoom(): Promise<MailRoom> {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    sent.push(`${pathname.slice(1)} to ${searchParams.get('to')}`);
    response.setHeader('content-type', 'application/json').end('{"sent":true}');
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    port: (server.address() as AddressInfo).port,
    sent,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** An invoice needs an approver, a reminder the user's word; neither may be sent twice. */
export function mailTools(port: number): readonly ToolManifest[] {
  const letter = (kind: string, more: Partial<ToolManifest>): ToolManifest => ({
    tool_id: `send-${kind}`,
    tool_name: `Send ${kind}`,
    version: '1.0.0',
    description: `Sends the ${kind} of this month.`,
    side_effect_policy: 'irreversible',
    parameters_schema: {
      type: 'object',
      properties: { to: { type: 'string', maxLength: 40, description: 'Who gets it.' } },
      required: ['to'],
      additionalProperties: false,
    },
    permissions: { network: [{ host: '127.0.0.1', port }] },
    executor: {
      kind: 'http',
      config: {
        base_url: `http://127.0.0.1:${port}`,
        method: 'POST',
        path: `/${kind}`,
        parameters: [{ property: 'to', name: 'to', in: 'query', style: 'form', explode: true }],
      },
    },
    ...more,
  });
  return [
    letter('invoice', { execution_config: { requires_approval: true } }),
    letter('notice', { execution_config: { requires_approval: true } }),
    letter('reminder', { requires_confirmation: true, confirmation_prompt: 'Send the reminder?' }),
  ];
}
