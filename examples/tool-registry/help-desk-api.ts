import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

interface Ticket {
  readonly number: number;
  readonly queue: string;
  readonly subject: string;
  readonly state: 'open' | 'closed';
}

/** The service that inputs/help-desk.openapi.yaml describes. */
export async function startHelpDesk(): Promise<{ url: string; port: number } & AsyncDisposable> {
  const tickets = new Map<number, Ticket>();
  const server = createServer(async (request, response) => {
    const [status, body] = await answer(request, tickets);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/desk`,
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(request: IncomingMessage, tickets: Map<number, Ticket>): Promise<[number, unknown]> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/desk/tickets' && request.method === 'POST') {
    const { subject } = (await json(request)) as { subject: string };
    const ticket: Ticket = {
      number: tickets.size + 1,
      queue: searchParams.get('queue') ?? '',
      subject,
      state: 'open',
    };
    tickets.set(ticket.number, ticket);
    return [201, ticket];
  }
  if (pathname === '/desk/tickets') return [200, [...tickets.values()].filter(({ state }) => state === 'open')];
  const number = Number(/^\/desk\/tickets\/(?<number>\d+)\/closure$/.exec(pathname)?.groups?.['number']);
  const ticket = tickets.get(number);
  if (ticket === undefined) return [404, { message: 'There is no such ticket.' }];
  tickets.set(number, { ...ticket, state: 'closed' });
  return [200, tickets.get(number)];
}
