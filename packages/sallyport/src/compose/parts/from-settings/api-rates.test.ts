import { expect, test } from 'vitest';
import { apiRatesOf } from './api-rates.ts';

test('EXT-02 bounds of services are read as the operator writes them', () => {
  const rates = apiRatesOf([
    'API.example.com=600/50',
    'localhost:8080=1/1',
    '[::1]:9=2/3',
    'mcp:git-hub=60/5',
    'a:443=1/1',
    'b=60/5/sliding_window',
  ]);
  expect(Object.fromEntries(rates)).toEqual({
    'api.example.com': { per_minute: 600, burst: 50 },
    'localhost:8080': { per_minute: 1, burst: 1 },
    '[::1]:9': { per_minute: 2, burst: 3 },
    'mcp:git-hub': { per_minute: 60, burst: 5 },
    a: { per_minute: 1, burst: 1 },
    b: { per_minute: 60, burst: 5, algorithm: 'sliding_window' },
  });
  expect(apiRatesOf([]).size).toBe(0);
});

test.each([
  'api.example.com',
  'api.example.com=60',
  'api.example.com=0/1',
  'api.example.com=1/0',
  'api.example.com=-1/1',
  'https://api.example.com=1/1',
  'api.example.com/v1=1/1',
  'u@api.example.com=1/1',
  'api.example.com?a=1/1',
  'api.example.com#a=1/1',
  'api.example.com\\a=1/1',
  'api.example.com?=1/1',
  'a:x=1/1',
  'mcp:=1/1',
  '=1/1',
  'a b=1/1',
  'a=1/1/',
  'a=1/1/token',
])('%j is refused', (entry) => {
  expect(() => apiRatesOf([entry])).toThrow(expect.objectContaining({ code: 'E3801' }));
});

test('a service that is named twice is refused', () => {
  expect(() => apiRatesOf(['a.example=1/1', 'A.example:443=2/2'])).toThrow('twice');
});
