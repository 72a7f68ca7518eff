import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// The service that petstore.yaml describes: npx node examples/your-tools/petstore.ts [PORT]

const PETS = [
  { id: 1, name: 'Rex', species: 'dog' },
  { id: 2, name: 'Tom', species: 'cat' },
  { id: 3, name: 'Bello', species: 'dog' },
];

function answer(url: URL): unknown {
  const id = /^\/pets\/(?<id>\d+)$/.exec(url.pathname)?.groups?.['id'];
  if (id !== undefined) return PETS.find((pet) => pet.id === Number(id));
  if (url.pathname !== '/pets') return undefined;
  const species = url.searchParams.get('filter[species]');
  return PETS.filter((pet) => species === null || pet.species === species).slice(
    0,
    Number(url.searchParams.get('limit') ?? PETS.length),
  );
}

const server = createServer((request, response) => {
  const body = answer(new URL(request.url ?? '/', 'http://localhost'));
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body ?? { message: 'no such page' }));
});
server.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => {
  console.log(`The petstore answers at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
