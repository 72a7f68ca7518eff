import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A tiny web service that the example's OpenAPI document describes. Its weather is made up from the city's name. */
export async function startWeatherApi(port: number): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const city = decodeURIComponent(/^\/weather\/(?<city>[^/]+)$/.exec(url.pathname)?.groups?.['city'] ?? '');
    const body = city === '' ? { message: 'no such page' } : weatherOf(city, url.searchParams.get('unit') ?? 'celsius');
    response.writeHead(city === '' ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function weatherOf(city: string, unit: string): { city: string; temperature: number; unit: string } {
  const celsius = [...city].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % 35;
  return { city, temperature: unit === 'fahrenheit' ? celsius * 1.8 + 32 : celsius, unit };
}
